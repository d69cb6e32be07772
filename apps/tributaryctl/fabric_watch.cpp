// SPDX-License-Identifier: BSD-3-Clause
#include "controller/fabric_watch.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "control/json.h"
#include "fabric_steps.h"
#include "fabric_text.h"

namespace tributary::ctl {
namespace {

using controller::FabricFile;
using controller::Look;
using nlohmann::json;

bool is_news(const Look& look, const Look& before) {
  const auto has_changed = [](const Look& each) {
    return !each.changed.empty() || !each.seeds.empty();
  };
  return has_changed(look) || has_changed(before) || look.problems != before.problems ||
         look.detours != before.detours;
}

void print(const Options& options, const FabricFile& file, const Look& look) {
  if (options.json) {
    print_json_line({{"changes", to_json(file, look.changed)},
                     {"seeds", to_json(file, look.seeds)},
                     {"problems", look.problems},
                     {"detours", look.detours}});
  } else {
    for (const auto* texts : {&look.problems, &look.detours}) {
      for (const std::string& text : *texts) {
        std::printf("%s\n", text.c_str());
      }
    }
    if (!look.seeds.empty()) {
      std::printf("gave %s\n", text_of(file, look.seeds).c_str());
    }
    if (!look.changed.empty()) {
      std::printf("changed: %s\n", names_of(file, look.changed).c_str());
    } else if (look.problems.empty() && look.seeds.empty()) {
      std::printf("the switches have what the file asks for\n");
    }
  }
  std::fflush(stdout);
}

}  // namespace

ExitCode fabric_watch(const Options& given, const FabricOptions& fabric) {
  auto options = given;
  options.json_lines = true;
  auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  const auto tell = [&](std::uint32_t job, const control::Environment& environment) {
    return fabric.env_directory.empty() ? tl::expected<void, std::string>()
                                        : write_environment(job, environment, fabric.env_directory);
  };
  controller::FabricWatch watch(std::move(*file), options.timeout(), tell);
  std::optional<Look> before;
  for (std::uint64_t tick = 0; fabric.count == 0 || tick < fabric.count; ++tick) {
    if (tick != 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(fabric.interval_s));
    }
    auto look = watch.look(controller::load_fabric(fabric.file));
    if (!before || is_news(look, *before)) {
      print(options, watch.file(), look);
    }
    before = std::move(look);
  }
  return before->problems.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tributary::ctl
