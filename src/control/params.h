// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "control/options.h"
#include "control/protocol.h"

namespace tributary::control {

// A method answers this.
using Answer = tl::expected<nlohmann::json, Failure>;

inline tl::unexpected<Failure> failure(ErrorCode code, std::string message,
                                       nlohmann::json details = nullptr) {
  return tl::unexpected(Failure{code, std::move(message), std::move(details)});
}

// Params gives typed access to the members of `params`. The first problem is kept; further reads
// are harmless.
class Params {
 public:
  static constexpr std::size_t rows_default = 1000;
  static constexpr std::size_t rows_max = 10000;

  explicit Params(const nlohmann::json& params) : params_(params) {}

  std::string text(const char* key) {
    return get<std::string>(key, &nlohmann::json::is_string, "text");
  }
  bool flag(const char* key, bool absent) { return params_.contains(key) ? flag(key) : absent; }
  bool flag(const char* key) {
    return get<bool>(key, &nlohmann::json::is_boolean, "true or false");
  }
  std::uint32_t number(const char* key) {
    return static_cast<std::uint32_t>(number(key, {0, std::numeric_limits<std::uint32_t>::max()}));
  }
  std::uint64_t number(const char* key, const Limits& limits) {
    const auto value =
        get<std::uint64_t>(key, &nlohmann::json::is_number_unsigned, "a number from 0");
    if (value < limits.min || value > limits.max) {
      complain("`" + std::string(key) + "` is out of range");
    }
    return value;
  }
  nlohmann::json list(const char* key) {
    return get<nlohmann::json>(key, &nlohmann::json::is_array, "a list");
  }
  bool has(const char* key) const { return params_.contains(key); }
  std::size_t limit() {
    known_.push_back("limit");
    const auto found = params_.find("limit");
    if (found == params_.end()) {
      return rows_default;
    }
    const std::uint64_t value = found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
    if (value < 1 || value > rows_max) {
      complain("`limit` is to be 1 to " + std::to_string(rows_max));
      return rows_default;
    }
    return static_cast<std::size_t>(value);
  }

  // Complains about members that nobody read. It is to be called before anything is done.
  tl::expected<void, Failure> finish() {
    for (const auto& [key, value] : params_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        complain("unknown parameter `" + key.substr(0, 64) + "`");
      }
    }
    if (!problem_.empty()) {
      return failure(ErrorCode::invalid_params, problem_);
    }
    return {};
  }

 private:
  template <class T>
  T get(const char* key, bool (nlohmann::json::*is)() const noexcept, const char* type) {
    known_.push_back(key);
    const auto found = params_.find(key);
    if (found == params_.end() || !((*found).*is)()) {
      complain("`" + std::string(key) + "` is to be " + type);
      return T{};
    }
    return found->template get<T>();
  }
  void complain(std::string problem) {
    if (problem_.empty()) {
      problem_ = std::move(problem);
    }
  }

  const nlohmann::json& params_;
  std::vector<std::string_view> known_;
  std::string problem_;
};

}  // namespace tributary::control
