// SPDX-License-Identifier: BSD-3-Clause
#include "parameters.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "host/protocol.h"
#include "reference.h"

namespace tributary::bench {
namespace {

// A protocol is called by the algorithm of its name or, if none has that, by those that it has.
std::string names_of(const host::HostProtocol& protocol) {
  if (std::ranges::find(protocol.algorithms, protocol.name, &host::Algorithm::name) !=
      protocol.algorithms.end()) {
    return "`" + std::string(protocol.name) + "`";
  }
  std::string names;
  for (const auto& algorithm : protocol.algorithms) {
    names += (names.empty() ? "`" : ", `") + std::string(algorithm.name) + "`";
  }
  return names;
}

std::string meaning_of(const host::Parameter& parameter) {
  std::string protocols;
  for (const auto* protocol : host::protocols()) {
    if (host::has_parameter(*protocol, parameter.name)) {
      protocols += (protocols.empty() ? "" : ", ") + names_of(*protocol);
    }
  }
  return protocols + ": " + std::string(parameter.help);
}

// Returns the help without the marks of Markdown.
std::string help_of(const host::Parameter& parameter) {
  auto text = meaning_of(parameter);
  if (const auto wanted = host::wanted(parameter); !wanted.empty()) {
    text += "; " + wanted;
  }
  if (!parameter.otherwise.empty()) {
    text += ", default " + std::string(parameter.otherwise);
  }
  std::erase(text, '`');
  return text;
}

void declare(CLI::App& app, const host::Parameter& parameter, CommunicatorOptions& out) {
  const std::string name(parameter.option);
  const auto take = [&parameter, &out, name](const std::string& text) {
    if (!host::is_valid(parameter, text)) {
      throw CLI::ValidationError(name, text + " is not " + host::wanted(parameter));
    }
    out.set(std::string(parameter.name), text);
  };
  auto* option = app.add_option_function<std::string>(name, take, help_of(parameter));
  if (parameter.kind == host::Parameter::Kind::list) {
    option->expected(CLI::detail::expected_max_vector_size)->join(',');
  }
}

std::string row_of(const host::Parameter& parameter) {
  const std::string cells[] = {"`" + std::string(parameter.name) + "`",
                               "`" + host::variable_of(parameter) + "`",
                               host::wanted(parameter),
                               std::string(parameter.otherwise),
                               parameter.agreed ? "yes" : "",
                               meaning_of(parameter)};
  return apps::table_line(cells);
}

}  // namespace

void declare_parameters(CLI::App& app, CommunicatorOptions& out) {
  for (const auto* parameter : host::protocol_parameters()) {
    if (!parameter->option.empty()) {
      declare(app, *parameter, out);
    }
  }
}

std::string reference_text() {
  std::string text =
      "## parameters of protocols\n\n"
      "| parameter | variable | values | default | alike | meaning |\n|---|---|---|---|---|---|\n";
  for (const auto* parameter : host::protocol_parameters()) {
    text += row_of(*parameter);
  }
  return text;
}

}  // namespace tributary::bench
