// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/communicator_options.h"
#include "host/launcher.h"
#include "host/parallel/parallel_communicator.h"
#include "host/protocol.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "host/variables.h"

namespace tributary {
namespace {

using host::Variables;

constexpr auto any = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t sixteen_bits = 65535;

Result<std::string> required(const Variables& variables, const char* name) {
  if (auto value = variables.find(name)) {
    return *value;
  }
  return fail(Error::Code::invalid_argument,
              std::string(name) +
                  " is not set; start with torchrun, mpirun or srun, or set RANK, WORLD_SIZE, "
                  "MASTER_ADDR and MASTER_PORT");
}

Result<std::uint32_t> number(const char* name, const std::string& text, std::uint32_t max) {
  const auto value = host::number_of(text);
  return value && *value <= max ? Result<std::uint32_t>(*value)
                                : host::misread(name, text, host::a_number(0, max));
}

Result<std::uint32_t> required_number(const Variables& variables, const char* name,
                                      std::uint32_t max) {
  return required(variables, name).and_then([&](const std::string& text) {
    return number(name, text, max);
  });
}

Result<std::uint32_t> optional_number(const Variables& variables, const char* name,
                                      std::uint32_t otherwise, std::uint32_t max) {
  const auto text = variables.find(name);
  return text ? number(name, *text, max) : Result<std::uint32_t>(otherwise);
}

Result<std::uint32_t> number_told(const std::optional<host::Told>& told, std::uint32_t otherwise) {
  return told ? number(told->variable, told->text, any) : Result<std::uint32_t>(otherwise);
}

// Nanoseconds is the type of `otherwise`: std::chrono::nanoseconds, or an optional of it.
template <typename Nanoseconds>
Result<Nanoseconds> duration_or(Nanoseconds otherwise, const Variables& variables,
                                const char* name) {
  const auto text = variables.find(name);
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

std::optional<Membership> membership_of(std::string_view text) {
  if (text == "fixed") {
    return Membership::fixed;
  }
  if (text == "elastic") {
    return Membership::elastic;
  }
  return text == "join" ? std::optional(Membership::join) : std::nullopt;
}

std::optional<bool> truth_of(std::string_view text) {
  if (text == "0" || text == "1") {
    return text == "1";
  }
  return std::nullopt;
}

// Reads one of a few words. `parse` knows them, and `words` lists them for the error.
template <typename T, typename Parse>
Result<T> word_or(T otherwise, const Variables& variables, const char* name, Parse parse,
                  const char* words) {
  const auto text = variables.find(name);
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

// Returns an empty address if none is set: then it is the one that routes to the rendezvous.
Result<std::string> local_address_of(const Variables& variables) {
  const auto address = variables.find("TRIBUTARY_LOCAL_ADDRESS");
  const auto interface = variables.find("TRIBUTARY_INTERFACE");
  if (address) {
    return *address;
  }
  if (!interface) {
    return std::string();
  }
  const auto found = host::address_of_interface(*interface);
  return found ? Result<std::string>(host::to_string(*found))
               : fail(found.error().code, found.error().message + " (TRIBUTARY_INTERFACE)");
}

// Returns the parameters, of all protocols, that the variables give.
Parameters given_parameters(const Variables& variables) {
  Parameters given;
  for (const auto* parameter : host::all_parameters()) {
    if (auto text = variables.find(host::variable_of(*parameter))) {
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

namespace host {

std::optional<std::string> Variables::find(const std::string& name) const {
  looked_for_.insert(name);
  if (const auto found = instead_.find(name); found != instead_.end()) {
    return found->second && found->second->empty() ? std::nullopt : found->second;
  }
  const char* const value = std::getenv(name.c_str());
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> Variables::unknown() const {
  for (const auto& [name, value] : instead_) {
    if (value && !looked_for_.contains(name)) {
      return name;
    }
  }
  return std::nullopt;
}

Result<std::uint32_t> local_rank_in(const Variables& variables) {
  return number_told(local_rank_of(variables), 0);
}

Result<CommunicatorOptions> settings_of(const Variables& variables) {
  CommunicatorOptions options;
  std::optional<Error> error;
  take(number_told(local_world_size_of(variables), 1), options.local_world_size, error);
  take(word_or(options.membership, variables, "TRIBUTARY_MEMBERSHIP", membership_of,
               "fixed, elastic or join"),
       options.membership, error);
  take(duration_or(options.join_timeout, variables, "TRIBUTARY_JOIN_TIMEOUT"), options.join_timeout,
       error);
  take(optional_number(variables, "TRIBUTARY_MTU", 0, sixteen_bits), options.mtu, error);
  take(optional_number(variables, "TRIBUTARY_WINDOW", 0, any), options.window, error);
  take(duration_or(options.stall_timeout, variables, "TRIBUTARY_STALL_TIMEOUT"),
       options.stall_timeout, error);
  take(duration_or(options.late_timeout, variables, "TRIBUTARY_LATE_TIMEOUT"), options.late_timeout,
       error);
  take(duration_or(options.deadline, variables, "TRIBUTARY_DEADLINE"), options.deadline, error);
  take(word_or(options.encapsulation, variables, "TRIBUTARY_ENCAPSULATION", encapsulation_of,
               "udp or ethernet"),
       options.encapsulation, error);
  take(optional_number(variables, "TRIBUTARY_JOB", 0, any), options.job, error);
  options.algorithm = variables.find("TRIBUTARY_ALGORITHM").value_or(options.algorithm);
  take(check_algorithm(options.algorithm), error);
  take(word_or(options.fallback, variables, "TRIBUTARY_FALLBACK", fallback_of, "allow or error"),
       options.fallback, error);
  take(word_or(options.reproducible, variables, "TRIBUTARY_REPRODUCIBLE", truth_of, "0 or 1"),
       options.reproducible, error);
  options.parameters = given_parameters(variables);
  take(check_parameters(options), error);
  take(local_address_of(variables), options.local_address, error);
  options.secret = variables.find("TRIBUTARY_SECRET").value_or("");
  if (const auto unknown = variables.unknown(); unknown && !error) {
    error = Error{Error::Code::invalid_argument,
                  "there is no variable " + *unknown +
                      " that could be set here; docs/reference/library.md lists those that there "
                      "are"};
  }
  if (error) {
    return tl::make_unexpected(*error);
  }
  return options;
}

Result<CommunicatorOptions> options_of(const Variables& variables) {
  CommunicatorOptions options;
  std::optional<Error> error;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;
  const auto& launcher = launcher_of(variables);
  if (variables.find("TRIBUTARY_MEMBERSHIP") == "join") {
    world_size = 1;  // its world gives it both
  } else {
    take(required_number(variables, launcher.rank, any), rank, error);
    take(required_number(variables, launcher.world_size, any), world_size, error);
  }
  const auto rendezvous = rendezvous_of(variables);
  if (rendezvous.empty()) {
    for (const auto* name : {"MASTER_ADDR", "MASTER_PORT"}) {
      take(required(variables, name).map([](const std::string&) {}), error);
    }
  } else if (variables.find("MASTER_PORT")) {
    std::uint32_t port = 0;
    take(required_number(variables, "MASTER_PORT", sixteen_bits), port, error);
  }
  take(settings_of(variables), options, error);
  if (error) {
    return tl::make_unexpected(*error);
  }
  options.rank = rank;
  options.world_size = world_size;
  options.rendezvous = rendezvous;
  return options;
}

}  // namespace host

Result<CommunicatorOptions> CommunicatorOptions::from_environment() {
  return host::options_of({});
}

Result<ParallelOptions> ParallelOptions::from_environment() {
  ParallelOptions options;
  std::optional<Error> error;
  const Variables variables;
  take(host::options_of(variables), options.communicator, error);
  take(host::local_rank_in(variables), options.local_rank, error);
  take(number_told(host::local_world_size_of(variables), 1), options.local_world_size, error);
  return error ? Result<ParallelOptions>(tl::make_unexpected(*error)) : options;
}

}  // namespace tributary
