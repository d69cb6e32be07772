// SPDX-License-Identifier: BSD-3-Clause
#include "handlers.h"

#include "lists.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;

// Tells what is wrong unless exactly one kind is asked for, and all of it is given.
const char* complaint_about(const HandlerOptions& wanted) {
  if (wanted.file.empty() == wanted.expression.empty()) {
    return "name one shared object, or give --expression and --type, as in `tributaryctl handler "
           "load 7 --expression 'acc = min(acc + in, 127)' --type i8`";
  }
  if (!wanted.expression.empty() && wanted.type.empty()) {
    return "an expression needs --type, of the elements that it is for, as --type i8";
  }
  if (!wanted.file.empty() && !wanted.type.empty()) {
    return "a shared object says its type itself; leave out --type";
  }
  return nullptr;
}

ExitCode call(const Options& options, const std::string& method, json params, const char* done) {
  const auto row = call_daemon(options, method, std::move(params));
  if (!row) {
    return report(options, row.error());
  }
  return print_result(options, *row,
                      "handler " + std::to_string(row->value("number", 0u)) + " is " + done + ": " +
                          row->value("name", "?") + " over " + row->value("type", "?") + ", mark " +
                          row->value("mark", "?"));
}

}  // namespace

ExitCode load_handler(const Options& options, const HandlerOptions& wanted) {
  if (const char* const complaint = complaint_about(wanted); complaint != nullptr) {
    return report(options, ExitCode::usage, "usage", complaint);
  }
  json params{{"number", wanted.number}};
  if (wanted.file.empty()) {
    params["expression"] = wanted.expression;
    params["type"] = wanted.type;
  } else {
    params["file"] = wanted.file;
  }
  return call(options, "handler.load", std::move(params), "loaded");
}

ExitCode unload_handler(const Options& options, const HandlerOptions& wanted) {
  return call(options, "handler.unload", {{"number", wanted.number}}, "unloaded");
}

}  // namespace tributary::ctl
