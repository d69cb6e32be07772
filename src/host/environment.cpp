// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/communicator_options.h"
#include "host/parallel/parallel_communicator.h"
#include "host/protocol.h"
#include "host/text.h"

namespace tributary {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

Result<std::string> required(const char* name) {
  if (auto value = variable(name)) {
    return *value;
  }
  return fail(Error::Code::invalid_argument,
              std::string(name) +
                  " is not set; start with torchrun or set RANK, WORLD_SIZE, MASTER_ADDR and "
                  "MASTER_PORT");
}

Result<std::uint32_t> number(const char* name, const std::string& text, std::uint32_t max) {
  const auto value = host::number_of(text);
  return value && *value <= max ? Result<std::uint32_t>(*value)
                                : host::misread(name, text, host::a_number(0, max));
}

Result<std::uint32_t> required_number(const char* name, std::uint32_t max) {
  return required(name).and_then([&](const std::string& text) { return number(name, text, max); });
}

Result<std::uint32_t> optional_number(const char* name, std::uint32_t otherwise,
                                      std::uint32_t max) {
  const auto text = variable(name);
  return text ? number(name, *text, max) : Result<std::uint32_t>(otherwise);
}

// As `otherwise` is: std::chrono::nanoseconds, or one that need not be there.
template <typename Nanoseconds>
Result<Nanoseconds> duration_or(Nanoseconds otherwise, const char* name) {
  const auto text = variable(name);
  if (!text) {
    return otherwise;
  }
  const auto duration = host::duration_of(*text);
  return duration ? Result<Nanoseconds>(*duration) : host::misread(name, *text, host::a_duration);
}

std::optional<wire::Encapsulation> encapsulation_of(std::string_view text) {
  if (text == "udp") {
    return wire::Encapsulation::udp;
  }
  return text == "ethernet" ? std::optional(wire::Encapsulation::ethernet) : std::nullopt;
}

std::optional<bool> truth_of(std::string_view text) {
  if (text == "0" || text == "1") {
    return text == "1";
  }
  return std::nullopt;
}

// One of a few words. `parse` knows them, `words` names them.
template <typename T, typename Parse>
Result<T> word_or(T otherwise, const char* name, Parse parse, const char* words) {
  const auto text = variable(name);
  if (!text) {
    return otherwise;
  }
  if (const std::optional<T> value = parse(*text)) {
    return *value;
  }
  return host::misread(name, *text, words);
}

// Puts the value into `target`, or remembers the first error.
template <typename T, typename Target>
void take(Result<T> value, Target& target, std::optional<Error>& error) {
  if (value) {
    target = static_cast<Target>(*value);
  } else if (!error) {
    error = value.error();
  }
}

void take(const Result<void>& checked, std::optional<Error>& error) {
  if (!checked && !error) {
    error = checked.error();
  }
}

Result<void> check_algorithm(const std::string& algorithm) {
  CommunicatorOptions options;
  options.algorithm = algorithm;
  return host::protocol_of(options) != nullptr
             ? Result<void>()
             : host::misread("TRIBUTARY_ALGORITHM", algorithm, host::known_algorithms());
}

// Those of all protocols that there are.
Parameters given_parameters() {
  Parameters given;
  for (const auto* parameter : host::all_parameters()) {
    if (auto text = variable(host::variable_of(*parameter).c_str())) {
      given.emplace(parameter->name, std::move(*text));
    }
  }
  return given;
}

}  // namespace

std::string_view name(Fallback fallback) {
  return fallback == Fallback::allow ? "allow" : "error";
}

std::optional<Fallback> fallback_of(std::string_view text) {
  for (const auto fallback : {Fallback::allow, Fallback::error}) {
    if (name(fallback) == text) {
      return fallback;
    }
  }
  return std::nullopt;
}

Result<CommunicatorOptions> CommunicatorOptions::from_environment() {
  constexpr auto any = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint32_t sixteen_bits = 65535;
  CommunicatorOptions options;
  std::optional<Error> error;
  std::string address;
  std::uint32_t port = 0;
  take(required_number("RANK", any), options.rank, error);
  take(required_number("WORLD_SIZE", any), options.world_size, error);
  take(required("MASTER_ADDR"), address, error);
  take(required_number("MASTER_PORT", sixteen_bits), port, error);
  take(optional_number("LOCAL_WORLD_SIZE", 1, any), options.local_world_size, error);
  take(optional_number("TRIBUTARY_MTU", 0, sixteen_bits), options.mtu, error);
  take(optional_number("TRIBUTARY_WINDOW", 0, any), options.window, error);
  take(duration_or(options.stall_timeout, "TRIBUTARY_STALL_TIMEOUT"), options.stall_timeout, error);
  take(duration_or(options.deadline, "TRIBUTARY_DEADLINE"), options.deadline, error);
  take(word_or(options.encapsulation, "TRIBUTARY_ENCAPSULATION", encapsulation_of,
               "udp or ethernet"),
       options.encapsulation, error);
  take(optional_number("TRIBUTARY_JOB", 0, any), options.job, error);
  options.algorithm = variable("TRIBUTARY_ALGORITHM").value_or(options.algorithm);
  take(check_algorithm(options.algorithm), error);
  take(word_or(options.fallback, "TRIBUTARY_FALLBACK", fallback_of, "allow or error"),
       options.fallback, error);
  take(word_or(options.reproducible, "TRIBUTARY_REPRODUCIBLE", truth_of, "0 or 1"),
       options.reproducible, error);
  options.parameters = given_parameters();
  take(host::check_parameters(options), error);
  if (error) {
    return tl::make_unexpected(*error);
  }
  options.rendezvous = address + ":" + std::to_string(port);
  options.secret = variable("TRIBUTARY_SECRET").value_or("");
  options.local_address = variable("TRIBUTARY_LOCAL_ADDRESS").value_or("");
  return options;
}

Result<ParallelOptions> ParallelOptions::from_environment() {
  constexpr auto any = std::numeric_limits<std::uint32_t>::max();
  ParallelOptions options;
  std::optional<Error> error;
  take(CommunicatorOptions::from_environment(), options.communicator, error);
  take(optional_number("LOCAL_RANK", 0, any), options.local_rank, error);
  take(optional_number("LOCAL_WORLD_SIZE", 1, any), options.local_world_size, error);
  return error ? Result<ParallelOptions>(tl::make_unexpected(*error)) : options;
}

}  // namespace tributary
