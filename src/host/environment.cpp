// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/communicator_options.h"
#include "host/parallel/parallel_communicator.h"

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
  std::uint32_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || value > max) {
    return fail(
        Error::Code::invalid_argument,
        std::string(name) + "=" + text + " is not a number from 0 to " + std::to_string(max));
  }
  return value;
}

Result<std::uint32_t> required_number(const char* name, std::uint32_t max) {
  return required(name).and_then([&](const std::string& text) { return number(name, text, max); });
}

Result<std::uint32_t> optional_number(const char* name, std::uint32_t otherwise,
                                      std::uint32_t max) {
  const auto text = variable(name);
  return text ? number(name, *text, max) : Result<std::uint32_t>(otherwise);
}

// In seconds; 0 if there is no such unit.
double unit_seconds(std::string_view unit) {
  constexpr std::pair<std::string_view, double> units[] = {{"", 1},      {"ns", 1e-9}, {"us", 1e-6},
                                                           {"ms", 1e-3}, {"s", 1},     {"min", 60}};
  const auto* const found = std::find_if(std::begin(units), std::end(units),
                                         [&](const auto& each) { return each.first == unit; });
  return found == std::end(units) ? 0 : found->second;
}

// As `otherwise` is: std::chrono::nanoseconds, or one that need not be there.
template <typename Nanoseconds>
Result<Nanoseconds> duration_or(Nanoseconds otherwise, const char* name) {
  const auto text = variable(name);
  if (!text) {
    return otherwise;
  }
  char* unit = nullptr;
  const double count = std::strtod(text->c_str(), &unit);
  const double seconds = count * unit_seconds(unit);
  constexpr double seconds_min = 1e-9;
  constexpr double seconds_max = 1e8;
  if (!(seconds >= seconds_min) || seconds > seconds_max) {
    return fail(Error::Code::invalid_argument,
                std::string(name) + "=" + *text +
                    " is not a duration as in 10s, 500ms or 2min; seconds without a unit");
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

Result<double> share_or(double otherwise, const char* name) {
  const auto text = variable(name);
  if (!text) {
    return otherwise;
  }
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (*end != '\0' || !(value > 0 && value <= 1)) {
    return fail(Error::Code::invalid_argument,
                std::string(name) + "=" + *text + " is not a share above 0 and up to 1");
  }
  return value;
}

std::vector<std::string> list(const char* name) {
  std::vector<std::string> entries;
  std::istringstream text(variable(name).value_or(""));
  for (std::string entry; std::getline(text, entry, ',');) {
    entries.push_back(entry);
  }
  return entries;
}

std::optional<bool> switch_of(std::string_view text) {
  if (text == "on") {
    return true;
  }
  return text == "off" ? std::optional(false) : std::nullopt;
}

std::optional<wire::Encapsulation> encapsulation_of(std::string_view text) {
  if (text == "udp") {
    return wire::Encapsulation::udp;
  }
  return text == "ethernet" ? std::optional(wire::Encapsulation::ethernet) : std::nullopt;
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
  return fail(Error::Code::invalid_argument, std::string(name) + "=" + *text + " is not " + words);
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

}  // namespace

std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "auto";
    case Algorithm::canary:
      return "canary";
    case Algorithm::panama:
      return "panama";
    case Algorithm::netreduce:
      return "netreduce";
    case Algorithm::roce_ring:
      return "roce-ring";
    case Algorithm::ring:
      break;
  }
  return "ring";
}

std::optional<Algorithm> algorithm_of(std::string_view text) {
  for (const auto algorithm : {Algorithm::automatic, Algorithm::canary, Algorithm::panama,
                               Algorithm::netreduce, Algorithm::roce_ring, Algorithm::ring}) {
    if (name(algorithm) == text) {
      return algorithm;
    }
  }
  return std::nullopt;
}

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
  take(word_or(options.algorithm, "TRIBUTARY_ALGORITHM", algorithm_of,
               "auto, canary, panama, netreduce, roce-ring or ring"),
       options.algorithm, error);
  take(word_or(options.fallback, "TRIBUTARY_FALLBACK", fallback_of, "allow or error"),
       options.fallback, error);
  take(optional_number("TRIBUTARY_ATTEMPTS", options.attempts, CommunicatorOptions::attempts_max),
       options.attempts, error);
  take(word_or(options.congestion_control, "TRIBUTARY_CONGESTION_CONTROL", switch_of, "on or off"),
       options.congestion_control, error);
  take(share_or(options.share, "TRIBUTARY_SHARE"), options.share, error);
  options.trees = list("TRIBUTARY_TREES");
  if (variable("TRIBUTARY_NETREDUCE_RING")) {
    take(required_number("TRIBUTARY_NETREDUCE_RING", any), options.netreduce_ring.emplace(), error);
  }
  take(optional_number("TRIBUTARY_NETREDUCE_WINDOW", options.netreduce_window, sixteen_bits),
       options.netreduce_window, error);
  take(optional_number("TRIBUTARY_NETREDUCE_MESSAGE", options.netreduce_message, sixteen_bits),
       options.netreduce_message, error);
  take(optional_number("TRIBUTARY_NETREDUCE_MTU", options.netreduce_mtu, sixteen_bits),
       options.netreduce_mtu, error);
  take(duration_or(options.rdma_timeout, "TRIBUTARY_RDMA_TIMEOUT"), options.rdma_timeout, error);
  if (error) {
    return tl::make_unexpected(*error);
  }
  options.rendezvous = address + ":" + std::to_string(port);
  options.secret = variable("TRIBUTARY_SECRET").value_or("");
  options.local_address = variable("TRIBUTARY_LOCAL_ADDRESS").value_or("");
  options.rdma_device = variable("TRIBUTARY_RDMA_DEVICE").value_or("");
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
