// SPDX-License-Identifier: BSD-3-Clause
#include "host/parameter.h"

#include <algorithm>
#include <cassert>
#include <cctype>

#include "host/text.h"
#include "wire/crc32.h"
#include "wire/quorum.h"

namespace tributary::host {
namespace {

using Kind = Parameter::Kind;

std::uint32_t checksum_of(const std::string& text) {
  return wire::crc32(0, std::as_bytes(std::span(text)));
}

std::string joined(const std::vector<std::string>& entries) {
  std::string text;
  for (const auto& entry : entries) {
    text += entry + ",";
  }
  return text.substr(0, text.empty() ? 0 : text.size() - 1);
}

}  // namespace

std::string variable_of(const Parameter& parameter) {
  std::string variable = "TRIBUTARY_";
  for (const char letter : parameter.name) {
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return variable;
}

std::string wanted(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::number:
      return a_number(parameter.least, parameter.most);
    case Kind::share:
      return a_share;
    case Kind::on_or_off:
      return "on or off";
    case Kind::duration:
      return a_duration;
    case Kind::word:
      return listed(parameter.words);
    case Kind::list:
      return "a list with commas between";
    case Kind::text:
      break;
  }
  return "";
}

bool is_valid(const Parameter& parameter, const std::string& text) {
  switch (parameter.kind) {
    case Kind::number: {
      const auto number = number_of(text);
      return number && *number >= parameter.least && *number <= parameter.most;
    }
    case Kind::share:
      return share_of(text).has_value();
    case Kind::on_or_off:
      return switch_of(text).has_value();
    case Kind::duration:
      return duration_of(text).has_value();
    case Kind::word:
      return std::ranges::find(parameter.words, text) != parameter.words.end();
    case Kind::text:
    case Kind::list:
      break;
  }
  return true;
}

Result<void> check(const Parameter& parameter, const std::string& text) {
  return is_valid(parameter, text) ? Result<void>()
                                   : misread(variable_of(parameter), text, wanted(parameter));
}

std::string Values::text(std::string_view name) const {
  if (const auto found = given_.find(name); found != given_.end()) {
    return found->second;
  }
  const auto known =
      std::find_if(parameters_.begin(), parameters_.end(),
                   [name](const Parameter& parameter) { return parameter.name == name; });
  assert(known != parameters_.end());
  return std::string(known->otherwise);
}

std::uint32_t Values::number(std::string_view name) const {
  return number_of(text(name)).value_or(0);
}
double Values::share(std::string_view name) const {
  return share_of(text(name)).value_or(1);
}
bool Values::on(std::string_view name) const {
  return switch_of(text(name)).value_or(false);
}
std::chrono::nanoseconds Values::duration(std::string_view name) const {
  return duration_of(text(name)).value_or(std::chrono::nanoseconds::zero());
}
std::vector<std::string> Values::list(std::string_view name) const {
  return list_of(text(name));
}

std::vector<std::uint32_t> Values::agreed(std::uint32_t world_size) const {
  std::vector<std::uint32_t> values;
  for (const auto& parameter : parameters_) {
    if (parameter.agreed) {
      values.push_back(compared_by(parameter, world_size));
    }
  }
  return values;
}

std::uint32_t Values::compared_by(const Parameter& parameter, std::uint32_t world_size) const {
  switch (parameter.kind) {
    case Kind::number:
      return number(parameter.name);
    case Kind::share:
      return wire::quorum_of(share(parameter.name), world_size);
    case Kind::on_or_off:
      return on(parameter.name) ? 1 : 0;
    case Kind::duration:
      return checksum_of(std::to_string(duration(parameter.name).count()));
    case Kind::list:
      return checksum_of(joined(list(parameter.name)));
    case Kind::word:
    case Kind::text:
      break;
  }
  return checksum_of(text(parameter.name));
}

std::string difference(const Parameter& parameter, std::uint32_t theirs, std::uint32_t rank_0s) {
  if (parameter.kind != Kind::number) {
    return "and rank 0 differ in " + variable_of(parameter);
  }
  return "was started with " + variable_of(parameter) + " " + std::to_string(theirs) +
         ", rank 0 with " + std::to_string(rank_0s);
}

}  // namespace tributary::host
