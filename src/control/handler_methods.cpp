// SPDX-License-Identifier: BSD-3-Clause
#include "control/handler_methods.h"

#include <algorithm>
#include <string>
#include <utility>

#include "wire/element.h"

namespace tributary::control {
namespace {

using nlohmann::json;

json row_json(const HandlerRow& row) {
  const auto& handler = row.handler;
  return {{"number", handler.number},
          {"kind", handler.native ? "native" : "expression"},
          {"type", std::string(wire::name(handler.type))},
          {"mark", mark_text(handler.mark)},
          {"name", handler.name},
          {"closed", handler.closed || handler.too_slow},
          {"too_slow", handler.too_slow},
          {"ns_per_kib", handler.ns_per_kib == 0 ? json(nullptr) : json(handler.ns_per_kib)},
          {"origin", row.is_of_file ? "file" : "hand"}};
}

json row_of(Backend& backend, unsigned number) {
  for (const auto& row : backend.handlers()) {
    if (row.handler.number == number) {
      return row_json(row);
    }
  }
  return nullptr;
}

tl::unexpected<Failure> wrong(std::string message) {
  return failure(ErrorCode::invalid_params, std::move(message));
}

// Reads what `number`, and `file` or `expression` and `type`, ask for.
tl::expected<HandlerConfig, Failure> read_wanted(const json& given) {
  Params params(given);
  HandlerConfig wanted;
  wanted.number = params.number("number");
  std::string type;
  if (params.has("file")) {
    wanted.file = params.text("file");
  } else {
    wanted.expression = params.text("expression");
    type = params.text("type");
  }
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  if (wanted.number >= wire::handlers_max) {
    return wrong("`number` is to be 0 to " + std::to_string(wire::handlers_max - 1));
  }
  if (params.has("file")) {
    return wanted.file.empty() ? wrong("`file` is to name a shared object")
                               : tl::expected<HandlerConfig, Failure>(std::move(wanted));
  }
  wanted.type = wire::element_type_of(type);
  if (!wanted.type) {
    return wrong("`type` is to be one of " + wire::listed(wire::element_type_names));
  }
  return wanted;
}

}  // namespace

Answer list_handlers(Backend& backend, std::size_t limit) {
  const auto all = backend.handlers();
  json rows = json::array();
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i) {
    rows.push_back(row_json(all[i]));
  }
  return json{{"rows", std::move(rows)}, {"rows_total", all.size()}};
}

Answer load_handler(Backend& backend, const json& given) {
  const auto wanted = read_wanted(given);
  if (!wanted) {
    return tl::unexpected(wanted.error());
  }
  if (const auto loaded = backend.load_handler(*wanted); !loaded) {
    return failure(ErrorCode::refused, loaded.error());
  }
  return row_of(backend, wanted->number);
}

Answer unload_handler(Backend& backend, const json& given) {
  Params params(given);
  const unsigned number = params.number("number");
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  json row = row_of(backend, number);
  if (row.is_null()) {
    return failure(ErrorCode::refused, "there is no handler " + std::to_string(number) +
                                           "; `tributaryctl handler list` lists them");
  }
  if (const auto unloaded = backend.unload_handler(number); !unloaded) {
    return failure(ErrorCode::late, unloaded.error());
  }
  row["closed"] = true;
  return row;
}

}  // namespace tributary::control
