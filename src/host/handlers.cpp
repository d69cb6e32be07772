// SPDX-License-Identifier: BSD-3-Clause
#include "host/handlers.h"

#include <memory>
#include <mutex>
#include <utility>

#include "reduce/handlers/expression.h"
#include "reduce/handlers/handler.h"
#include "reduce/handlers/native.h"
#include "reduce/handlers/table.h"

namespace tributary {
namespace {

using MadeHandler = tl::expected<std::unique_ptr<reduce::Handler>, std::string>;

MadeHandler make(const HandlerExpression& expression) {
  return reduce::compile_expression(expression.text, expression.type);
}
MadeHandler make(const HandlerFile& file) {
  return reduce::open_native(file.path);
}

// Only one thread at a time may change the table.
std::mutex& table_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Result<void> load_handler(unsigned number, const HandlerSource& source) {
  const std::lock_guard lock(table_mutex());
  auto made = std::visit([](const auto& from) { return make(from); }, source);
  if (!made) {
    return fail(Error::Code::invalid_argument,
                "handler " + std::to_string(number) + ": " + made.error());
  }
  return reduce::handlers().load(number, std::move(*made)).map_error([](const std::string& why) {
    return Error{Error::Code::invalid_argument, why};
  });
}

}  // namespace tributary
