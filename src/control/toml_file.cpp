// SPDX-License-Identifier: BSD-3-Clause
#include "control/toml_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "control/config_depth.h"
#include "control/config_reader.h"

namespace tributary::control {
namespace {

constexpr std::size_t file_bytes_max = 4 * 1024 * 1024;

ConfigErrors whole_file(const std::string& name, std::string message, std::string hint = {}) {
  return {{name, 0, 0, std::move(message), std::move(hint)}};
}

// Returns line and column of what follows `before`, both from 1. A character of UTF-8 has one byte
// that continues none.
std::pair<std::uint32_t, std::uint32_t> line_and_column(std::string_view before) {
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto line = before.substr(before.rfind('\n') + 1);  // all of it if that is the first line
  const auto characters = std::count_if(line.begin(), line.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u;
  });
  return {static_cast<std::uint32_t>(lines + 1), static_cast<std::uint32_t>(characters + 1)};
}

}  // namespace

tl::expected<std::string, ConfigErrors> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) {
    return tl::unexpected(whole_file(path, std::strerror(errno)));
  }
  std::string text(file_bytes_max + 1, '\0');
  errno = 0;
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return tl::unexpected(whole_file(path, std::strerror(errno)));
  }
  return text;
}

tl::expected<toml::table, ConfigErrors> parse_document(std::string_view text,
                                                       const std::string& name) {
  if (text.size() > file_bytes_max) {
    return tl::unexpected(whole_file(name, "file is larger than " + size_text(file_bytes_max)));
  }
  if (const auto at = nested_too_deep(text)) {
    const auto [line, column] = line_and_column(text.substr(0, *at));
    return tl::unexpected(ConfigErrors{
        {name, line, column, "brackets or dotted keys are nested too deep", "write it flatter"}});
  }
  try {
    return toml::parse(text, std::string(name));
  } catch (const toml::parse_error& error) {
    Diagnostics diagnostics(name);
    diagnostics.error(error.source().begin, std::string(error.description()));
    return tl::unexpected(diagnostics.take());
  }
}

}  // namespace tributary::control
