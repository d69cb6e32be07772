// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_store.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <set>
#include <unistd.h>
#include <utility>

#include <spdlog/spdlog.h>

#include "control/protocol.h"
#include "control/tree_json.h"
#include "system/file_descriptor.h"
#include "system/write_all.h"

namespace tributary::control {
namespace {

using nlohmann::json;

constexpr int state_version = 1;
constexpr std::size_t state_bytes_max = 64 * 1024 * 1024;

tl::unexpected<std::string> system_error(const std::string& path) {
  return tl::unexpected(path + ": " + std::strerror(errno));
}

FileDescriptor open_file(const std::string& path, int flags) {
  return FileDescriptor(open(path.c_str(), flags | O_CLOEXEC, 0640));
}

bool write_file(const std::string& path, int flags, std::string_view text) {
  const auto file = open_file(path, O_WRONLY | flags);
  return file && write_all(file.get(), text).empty() && fsync(file.get()) == 0;
}

// Where a disk is full, a text of at most the old length still has room, in the place of the old
// one. Only a machine that stops in the middle of this loses what was kept. The file is as long as
// before until all is written, so that it is whole when only the daemon stops.
bool write_over(const std::string& path, std::string text) {
  std::error_code error;
  const auto length = std::filesystem::file_size(path, error);
  if (error || text.size() > length) {
    return false;
  }
  text.resize(length, ' ');
  return write_file(path, 0, text);
}

// A file of a daemon that knew of no seeds has none.
tl::expected<RuntimeSeeds, std::string> seeds_of(const json& document) {
  RuntimeSeeds seeds;
  const auto listed = document.find("seeds");
  if (listed == document.end()) {
    return seeds;
  }
  if (!listed->is_object()) {
    return tl::unexpected(std::string("`seeds` is no object"));
  }
  for (const auto& [name, seed] : listed->items()) {
    if (!seed.is_number_unsigned()) {
      return tl::unexpected("switch " + name.substr(0, 64) + ", its seed is no number");
    }
    seeds[name] = seed.get<std::uint64_t>();
  }
  return seeds;
}

tl::expected<RuntimeState, std::string> runtime_state_of(const json& document) {
  const bool ours = document.is_object() && document.value("version", json()) == state_version &&
                    document.value("switches", json()).is_object();
  if (!ours) {
    return tl::unexpected("it is no state of version " + std::to_string(state_version));
  }
  RuntimeTrees trees;
  for (const auto& item : document["switches"].items()) {
    auto parts = read_trees(item.value());
    if (!parts) {
      return tl::unexpected("switch " + item.key().substr(0, 64) + ", " + parts.error());
    }
    trees = with_change(std::move(trees), item.key(), {}, *parts);
  }
  auto seeds = seeds_of(document);
  if (!seeds) {
    return tl::unexpected(seeds.error());
  }
  return RuntimeState{std::move(trees), std::move(*seeds)};
}

bool fits(DaemonConfig config, const RuntimeTrees& trees, std::string& why) {
  const auto added = add_trees(config, trees);
  why = added ? "" : added.error();
  return added.has_value();
}

// Adds one job's trees on one switch, if they fit beside the others.
void restore_job(const DaemonConfig& config, const std::string& switch_name,
                 const std::vector<TreePart>& parts, std::uint32_t job, RuntimeTrees& restored) {
  std::vector<TreePart> own;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(own),
               [&](const TreePart& part) { return part.job == job; });
  auto next = with_change(restored, switch_name, {}, own);
  std::string why;
  if (fits(config, next, why)) {
    restored = std::move(next);
  } else {
    spdlog::error("job {} is not taken up again: {}", job, why);
  }
}

}  // namespace

std::string state_path(const DaemonConfig& config) {
  if (config.state) {
    return *config.state;
  }
  constexpr std::string_view suffix = ".sock";
  std::string path = config.control_socket;
  if (path.ends_with(suffix)) {
    path.resize(path.size() - suffix.size());
  }
  return path + ".trees.json";
}

tl::expected<RuntimeState, std::string> load_state(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) {
    if (errno == ENOENT) {
      return RuntimeState{};
    }
    return system_error(path);
  }
  std::string text;
  char chunk[65536];
  while (const std::size_t size = std::fread(chunk, 1, sizeof(chunk), file.get())) {
    text.append(chunk, size);
    if (text.size() > state_bytes_max) {
      return tl::unexpected(path + ": it is too long");
    }
  }
  if (std::ferror(file.get()) != 0) {
    return system_error(path);
  }
  const auto document = parse_json(text);
  auto state = document ? runtime_state_of(*document) : tl::unexpected(document.error());
  if (!state) {
    return tl::unexpected(path + ": " + state.error());
  }
  return state;
}

tl::expected<void, std::string> save_state(const std::string& path, const RuntimeState& state) {
  json switches = json::object();
  for (const auto& entry : state.trees) {
    json& list = switches[entry.first] = json::array();
    for (const TreePart& part : entry.second) {
      list.push_back(to_json(part));
    }
  }
  json seeds = json::object();
  for (const auto& [name, seed] : state.seeds) {
    seeds[name] = seed;
  }
  const json document = {
      {"version", state_version}, {"switches", std::move(switches)}, {"seeds", std::move(seeds)}};
  const std::string text = document.dump(1) + "\n";
  const std::string fresh = path + ".new";
  if (!write_file(fresh, O_CREAT | O_TRUNC, text) ||
      std::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(fresh.c_str());
    if ((error == ENOSPC || error == EDQUOT) && write_over(path, text)) {
      return {};
    }
    errno = error;
    return system_error(fresh);
  }
  const auto directory = std::filesystem::path(path).parent_path();
  // The directory is synced against a loss of power; a file system that cannot has done its best.
  fsync(open_file(directory.empty() ? "." : directory.string(), O_RDONLY | O_DIRECTORY).get());
  return {};
}

RuntimeState restore_state(const DaemonConfig& config) {
  const std::string path = state_path(config);
  if (path.empty()) {
    return {};
  }
  auto kept = load_state(path);
  if (!kept) {
    spdlog::error(
        "no aggregation trees are taken up again: {}; install them once more with "
        "`tributaryctl fabric apply`",
        kept.error());
    return {};
  }
  RuntimeTrees restored;
  std::size_t count = 0;
  for (const auto& entry : kept->trees) {
    std::set<std::uint32_t> jobs;
    for (const TreePart& part : entry.second) {
      jobs.insert(part.job);
    }
    for (const std::uint32_t job : jobs) {
      restore_job(config, entry.first, entry.second, job, restored);
    }
  }
  for (const auto& entry : restored) {
    count += entry.second.size();
  }
  if (count != 0) {
    spdlog::info("{} aggregation trees taken up again from {}", count, path);
  }
  return {std::move(restored), std::move(kept->seeds)};
}

}  // namespace tributary::control
