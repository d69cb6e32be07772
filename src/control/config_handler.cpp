// SPDX-License-Identifier: BSD-3-Clause
// Here [[handler]] is read.
#include <algorithm>
#include <string>
#include <utility>

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "reduce/handlers/expression.h"

namespace tributary::control {
namespace {

Parsed<wire::ElementType> parse_element_type(std::string_view text) {
  if (const auto type = wire::element_type_of(text)) {
    return *type;
  }
  return tl::unexpected(
      Complaint{"there is no element type `" + std::string(text).substr(0, 64) + "`",
                "one of " + wire::listed(wire::element_type_names)});
}

constexpr Option<HandlerConfig> handler_table[] = {
    option::integer<&HandlerConfig::number>(
        "number", Apply::reload, {0, wire::handlers_max - 1},
        "by which packets name it; the same on all switches and ranks, and once in the file")
        .required()
        .unlisted(),
    option::parsed<&HandlerConfig::type, parse_element_type>(
        "type", Apply::reload,
        "one that [expressions](handlers.md#element-types-and-precision) have",
        "of the elements of an expression, as `\"i8\"`; a file says its own"),
    option::text<&HandlerConfig::expression>(
        "expression", Apply::reload, reduce::expression_bytes_max,
        "what it does, in the [language of expressions](handlers.md#language-of-expressions), on "
        "one line"),
    option::text<&HandlerConfig::file>(
        "file", Apply::reload, path_bytes_max,
        "in place of `expression`: a shared object in `handler_directory`, by its name there"),
};

// Complains unless it names one thing, and all of it.
void check_source(Reader& reader, const DaemonConfig& config) {
  const bool is_file = reader.has("file");
  if (reader.has("expression") == is_file) {
    reader.error("file", "a handler is either an `expression` or a `file`",
                 "write one of them, as expression = \"acc = min(acc + in, 127)\"");
  } else if (is_file && reader.has("type")) {
    reader.error("type", "`type` beside `file`", "the shared object says its type; leave it out");
  } else if (is_file && config.handler_directory.empty()) {
    reader.error("file", "`file` without `handler_directory` in [daemon]",
                 "name the directory of handlers there, as handler_directory = "
                 "\"/usr/lib/tributary/handlers\"");
  } else if (!is_file && !reader.has("type")) {
    reader.error("expression", "`expression` without `type`",
                 "say what its elements are, as type = \"i8\"");
  }
}

}  // namespace

constinit const Options<HandlerConfig> handler_options = handler_table;

void read_handler(Reader& reader, DaemonConfig& out) {
  const std::size_t errors_before = reader.errors();
  HandlerConfig handler;
  read_options(reader, handler_options, handler);
  check_source(reader, out);
  const bool is_known =
      std::any_of(out.handlers.begin(), out.handlers.end(),
                  [&](const HandlerConfig& other) { return other.number == handler.number; });
  if (reader.errors() == errors_before && is_known) {
    reader.error("number", "handler " + std::to_string(handler.number) + " was given before",
                 "choose another number");
  }
  if (reader.errors() == errors_before && handler.type) {
    const auto compiled = reduce::compile_expression(handler.expression, *handler.type);
    if (!compiled) {
      reader.error("expression", compiled.error());
    }
  }
  out.handlers.push_back(std::move(handler));
}

}  // namespace tributary::control
