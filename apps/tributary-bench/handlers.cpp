// SPDX-License-Identifier: BSD-3-Clause
#include "handlers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "host/text.h"
#include "reduce/kernel.h"

namespace tributary::bench {
namespace {

CLI::ValidationError misread(const std::string& text, const std::string& why) {
  return CLI::ValidationError("--handler", text + ": " + why);
}

NumberedHandler handler_of(const std::string& text, const std::vector<wire::ElementType>& types) {
  const auto equals = text.find('=');
  const auto number = host::number_of(std::string_view(text).substr(0, equals));
  if (equals == std::string::npos || !number || *number >= wire::handlers_max) {
    throw misread(text, "is N=EXPRESSION or N=FILE with a number N from 0 to 63");
  }
  auto source = text.substr(equals + 1);
  if (source.starts_with('/') || source.starts_with('.')) {
    return {*number, HandlerFile{std::move(source)}};
  }
  if (types.size() != 1) {
    throw misread(text, "an expression has elements of one type: give one --datatype");
  }
  return {*number, HandlerExpression{std::move(source), types.front()}};
}

}  // namespace

std::vector<NumberedHandler> handlers_of(const std::vector<std::string>& texts,
                                         const std::vector<wire::ElementType>& types) {
  std::vector<NumberedHandler> handlers;
  for (const auto& text : texts) {
    handlers.push_back(handler_of(text, types));
  }
  return handlers;
}

Result<void> load(const std::vector<NumberedHandler>& handlers,
                  const std::vector<wire::Operator>& operators,
                  const std::vector<wire::ElementType>& types) {
  for (const auto& handler : handlers) {
    if (auto loaded = load_handler(handler.number, handler.source); !loaded) {
      return loaded;
    }
  }
  for (const auto op : operators) {
    const auto reduces = [op](wire::ElementType type) {
      return reduce::find_kernel(type, op) != nullptr;
    };
    if (wire::is_handler(op) && std::none_of(types.begin(), types.end(), reduces)) {
      return fail(Error::Code::invalid_argument,
                  std::string(wire::name(op)) +
                      " is not loaded, or not for a --datatype that is measured; say --handler " +
                      std::to_string(wire::handler_number(op)) + "=..., and its type");
    }
  }
  return {};
}

}  // namespace tributary::bench
