// SPDX-License-Identifier: BSD-3-Clause
#include "control/handler_source.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "reduce/handlers/expression.h"
#include "reduce/handlers/native.h"

namespace tributary::control {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& directory) {
  return path != directory &&
         std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first ==
             directory.end();
}

tl::expected<fs::path, std::string> resolved(const fs::path& path) {
  std::error_code error;
  auto real = fs::canonical(path, error);
  if (error) {
    return tl::make_unexpected(path.string() + ": " + error.message());
  }
  return real;
}

// Says how somebody else could change it; empty if nobody can. In a sticky directory nobody
// replaces what belongs to others.
std::string weakness(const fs::path& path, bool may_be_sticky) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    return path.string() + ": " + std::strerror(errno);
  }
  if (status.st_uid != 0 && status.st_uid != geteuid()) {
    return path.string() + " belongs to another user; `chown root " + path.string() + "`";
  }
  const bool is_sticky = may_be_sticky && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky) {
    return path.string() + " can be written by its group or by others; `chmod go-w " +
           path.string() + "`";
  }
  return {};
}

// Looks at the file, the directory, what lies between them, and what is above.
std::string weakness_on_the_way(const fs::path& file, const fs::path& directory) {
  for (auto place = file;; place = place.parent_path()) {
    if (auto found = weakness(place, is_below(directory, place)); !found.empty()) {
      return found;
    }
    if (place == place.root_path()) {
      return {};
    }
  }
}

}  // namespace

tl::expected<std::string, std::string> trusted_file(const std::string& file,
                                                    const std::string& directory) {
  if (directory.empty()) {
    return tl::make_unexpected(std::string(
        "no shared object may be loaded here; say where they are, as handler_directory = "
        "\"/usr/lib/tributary/handlers\" in [daemon], and restart the daemon, or load an "
        "expression"));
  }
  const auto home = resolved(directory);
  const auto found = home ? resolved(*home / file) : home;
  if (!found) {
    return tl::make_unexpected(found.error());
  }
  if (!is_below(*found, *home)) {
    return tl::make_unexpected(found->string() + " is not in " + home->string() +
                               ", the handler_directory; put it there");
  }
  if (std::error_code error; !fs::is_regular_file(*found, error)) {
    return tl::make_unexpected(found->string() + " is no file; name a shared object");
  }
  if (const auto weak = weakness_on_the_way(*found, *home); !weak.empty()) {
    return tl::make_unexpected("a handler runs with all rights of the daemon, and " + weak);
  }
  return found->string();
}

tl::expected<std::unique_ptr<reduce::Handler>, std::string> make_handler(
    const HandlerConfig& wanted, const std::string& directory) {
  if (wanted.file.empty()) {
    assert(wanted.type);
    return reduce::compile_expression(wanted.expression, *wanted.type);
  }
  const auto path = trusted_file(wanted.file, directory);
  if (!path) {
    return tl::make_unexpected(path.error());
  }
  return reduce::open_native(*path);
}

}  // namespace tributary::control
