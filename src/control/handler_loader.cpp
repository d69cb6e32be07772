// SPDX-License-Identifier: BSD-3-Clause
#include "control/handler_loader.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "control/handler_source.h"
#include "control/join.h"
#include "reduce/handlers/budget.h"

namespace tributary::control {
namespace {

using Row = reduce::HandlerTable::Row;

std::optional<Row> row_of(unsigned number) {
  const auto rows = reduce::handlers().list();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.number == number; });
  return found == rows.end() ? std::nullopt : std::optional(*found);
}

bool is_made_of(const Row& row, const reduce::Handler& handler) {
  return !row.closed && row.mark == handler.mark() && row.type == handler.type() &&
         row.native == handler.is_native();
}

bool is_same(const Row& row, const reduce::Handler& handler) {
  return !row.too_slow && is_made_of(row, handler);
}

std::string called(unsigned number) {
  return "handler " + std::to_string(number);
}

std::string taken(const Row& row) {
  const auto number = std::to_string(row.number);
  const std::string state = row.closed     ? " is just being unloaded: "
                            : row.too_slow ? " was closed, as it is too slow: "
                                           : " is taken: ";
  return called(row.number) + state + row.name +
         "; unload it first, with `tributaryctl handler unload " + number +
         "`, or choose another number";
}

}  // namespace

std::string mark_text(std::uint64_t mark) {
  return fmt::format("{:#018x}", mark);
}

HandlerLoader::HandlerLoader(std::string directory, Quiescence wait_for_cores)
    : directory_(std::move(directory)), wait_for_cores_(std::move(wait_for_cores)) {}

std::vector<HandlerRow> HandlerLoader::list() const {
  std::vector<HandlerRow> rows;
  for (auto& row : reduce::handlers().list()) {
    const bool is_of_file = of_file_.test(row.number);
    rows.push_back({std::move(row), is_of_file});
  }
  return rows;
}

HandlerLoader::Outcome HandlerLoader::load(const HandlerConfig& wanted) {
  auto handler = make_handler(wanted, directory_);
  if (!handler) {
    return tl::unexpected(handler.error());
  }
  const auto row = row_of(wanted.number);
  if (row && is_same(*row, **handler)) {
    return {};
  }
  if (row && !is_made_of(*row, **handler)) {
    return tl::make_unexpected(taken(*row));
  }
  const auto of_file = of_file_;
  if (auto unloaded = unload(wanted.number); !unloaded) {
    return unloaded;
  }
  of_file_ = of_file;  // whoever loads it anew does not take it over
  return reduce::handlers().load(wanted.number, std::move(*handler));
}

HandlerLoader::Outcome HandlerLoader::unload(unsigned number) {
  if (!row_of(number)) {
    return {};
  }
  reduce::handlers().close(number);  // or it was closed before, when a core was late
  if (const auto passed = wait_for_cores_(); !passed) {
    return tl::make_unexpected("closed, but not unloaded: " + called(number) + "; " +
                               passed.error());
  }
  take_all({number});
  return {};
}

void HandlerLoader::take_all(const Numbers& closed) {
  for (const auto number : closed) {
    retired_.push_back(reduce::handlers().take(number));
    of_file_.reset(number);
    told_.reset(number);
  }
  if (wait_for_cores_()) {
    retired_.clear();
  }  // else nobody finds what is retired, and it goes with what is unloaded next
}

tl::expected<HandlerLoader::Handler, std::string> HandlerLoader::replacement(
    const HandlerConfig& wanted) const {
  auto handler = make_handler(wanted, directory_);
  if (!handler) {
    return tl::make_unexpected(called(wanted.number) + ": " + handler.error());
  }
  const auto row = row_of(wanted.number);
  if (row && is_same(*row, **handler)) {
    return Handler{};
  }
  if (row && !of_file_.test(wanted.number) && !is_made_of(*row, **handler)) {
    return tl::make_unexpected(taken(*row));
  }
  return handler;
}

tl::expected<HandlerLoader::Change, std::string> HandlerLoader::change_to(
    const std::vector<HandlerConfig>& file) const {
  Change change;
  auto unwanted = of_file_;
  for (const auto& wanted : file) {
    if (change.named.test(wanted.number)) {
      return tl::make_unexpected(called(wanted.number) + " is given twice; choose another number");
    }
    change.named.set(wanted.number);
    auto handler = replacement(wanted);
    if (!handler) {
      return tl::unexpected(handler.error());
    }
    if (*handler == nullptr) {
      unwanted.reset(wanted.number);
    } else {
      if (row_of(wanted.number)) {  // also one that was loaded by hand, and was too slow
        unwanted.set(wanted.number);
      }
      change.coming.emplace_back(wanted.number, std::move(*handler));
    }
  }
  for (unsigned number = 0; number < wire::handlers_max; ++number) {
    if (unwanted.test(number)) {
      change.going.push_back(number);
    }
  }
  return change;
}

tl::expected<std::vector<ConfigChange>, std::string> HandlerLoader::check(
    const std::vector<HandlerConfig>& file) const {
  return change_to(file).map([](const Change& change) {
    std::vector<ConfigChange> loads;
    for (const auto& [number, handler] : change.coming) {
      const auto row = row_of(number);
      loads.push_back({called(number), row && !row->closed ? mark_text(row->mark) : "",
                       mark_text(handler->mark())});
    }
    return loads;
  });
}

// No handler is refused once the cores have passed: each number is free then, and comes once.
HandlerLoader::Outcome HandlerLoader::apply(const std::vector<HandlerConfig>& file) {
  auto change = change_to(file);
  if (!change) {
    return tl::unexpected(change.error());
  }
  if (auto unloaded = unload_all(change->going); !unloaded) {
    return unloaded;
  }
  for (auto& [number, handler] : change->coming) {
    if (auto loaded = reduce::handlers().load(number, std::move(handler)); !loaded) {
      return loaded;
    }
  }
  of_file_ |= change->named;
  return {};
}

// Unloads all of them or none.
HandlerLoader::Outcome HandlerLoader::unload_all(const Numbers& numbers) {
  if (numbers.empty()) {
    return {};
  }
  auto& table = reduce::handlers();
  Numbers closed;
  for (const auto number : numbers) {
    if (table.close(number)) {  // or it was closed before, by hand
      closed.push_back(number);
    }
  }
  if (const auto passed = wait_for_cores_(); !passed) {
    for (const auto number : closed) {
      table.reopen(number);
    }
    return tl::make_unexpected("nothing was changed, as these cannot be unloaded yet: " +
                               join(numbers, called) + "; " + passed.error());
  }
  take_all(numbers);
  return {};
}

std::vector<std::string> HandlerLoader::newly_slow() {
  std::vector<std::string> said;
  for (const auto& row : reduce::handlers().list()) {
    if (row.too_slow && !told_.test(row.number)) {
      told_.set(row.number);
      said.push_back(fmt::format(
          "{} was closed, as it takes {} ns for a KiB, and {} are permitted: {}; packets that name "
          "it are dropped (handler_too_slow) until it is loaded again",
          called(row.number), row.ns_per_kib, reduce::handler_ns_per_kib_max, row.name));
    }
  }
  return said;
}

}  // namespace tributary::control
