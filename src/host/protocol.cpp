// SPDX-License-Identifier: BSD-3-Clause
#include "host/protocol.h"

#include <iterator>

#include "host/journal/parameters.h"
#include "host/text.h"
#include "host/tuning/parameters.h"

namespace tributary::host {
namespace {

template <typename Is>
const HostProtocol* first_that(Is is) {
  const auto rows = protocols();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto* protocol) { return is(*protocol); });
  return found == rows.end() ? nullptr : *found;
}

}  // namespace

std::vector<const Parameter*> own_parameters() {
  std::vector<const Parameter*> own;
  for (const auto& parameter : journal_parameters) {
    own.push_back(&parameter);
  }
  for (const auto& parameter : tuning::parameters) {
    own.push_back(&parameter);
  }
  return own;
}

bool has_parameter(const HostProtocol& protocol, std::string_view name) {
  return std::ranges::find(protocol.parameters, name, &Parameter::name) !=
         protocol.parameters.end();
}

std::vector<const Parameter*> protocol_parameters() {
  std::vector<const Parameter*> all;
  for (const auto* protocol : protocols()) {
    for (const auto& parameter : protocol->parameters) {
      if (std::ranges::find(all, parameter.name, &Parameter::name) == all.end()) {
        all.push_back(&parameter);
      }
    }
  }
  return all;
}

std::vector<const Parameter*> all_parameters() {
  auto all = own_parameters();
  std::ranges::copy(protocol_parameters(), std::back_inserter(all));
  return all;
}

std::vector<Algorithm> algorithms() {
  std::vector<Algorithm> all;
  for (const auto* protocol : protocols()) {
    all.insert(all.end(), protocol->algorithms.begin(), protocol->algorithms.end());
  }
  all.push_back({ring_algorithm, true});
  return all;
}

std::string known_algorithms() {
  std::vector<std::string_view> names = {automatic_algorithm};
  for (const auto& algorithm : algorithms()) {
    names.push_back(algorithm.name);
  }
  return listed(names);
}

const HostProtocol* protocol_called(std::string_view name) {
  return first_that([&](const HostProtocol& protocol) { return protocol.name == name; });
}

const HostProtocol& default_protocol() {
  return *first_that([](const HostProtocol& protocol) { return protocol.by_default; });
}

const HostProtocol* protocol_of(const CommunicatorOptions& options) {
  if (options.algorithm == ring_algorithm) {
    return &default_protocol();
  }
  if (options.algorithm == automatic_algorithm) {
    const auto* const configured = first_that([&](const HostProtocol& protocol) {
      return protocol.configured != nullptr && protocol.configured(options);
    });
    return configured != nullptr ? configured : &default_protocol();
  }
  return first_that([&](const HostProtocol& protocol) {
    return std::any_of(protocol.algorithms.begin(), protocol.algorithms.end(),
                       [&](const Algorithm& one) { return one.name == options.algorithm; });
  });
}

bool are_hosts_alone(std::string_view algorithm) {
  const auto all = algorithms();
  return std::any_of(all.begin(), all.end(), [&](const Algorithm& one) {
    return one.name == algorithm && one.hosts_alone;
  });
}

Result<void> check_parameters(const CommunicatorOptions& options) {
  const auto all = all_parameters();
  for (const auto& [name, text] : options.parameters) {
    const auto known = std::ranges::find(all, std::string_view(name), &Parameter::name);
    if (known == all.end()) {
      std::vector<std::string_view> names;
      std::ranges::transform(all, std::back_inserter(names), &Parameter::name);
      return fail(Error::Code::invalid_argument,
                  "there is no parameter '" + name + "', but " + listed(names));
    }
    if (auto checked = check(**known, text); !checked) {
      return checked;
    }
  }
  return {};
}

}  // namespace tributary::host
