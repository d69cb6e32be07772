// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bitset>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"
#include "control/config_diff.h"
#include "reduce/handlers/handler.h"
#include "reduce/handlers/table.h"
#include "wire/element.h"

namespace tributary::control {

// This is a handler of this process, and where it came from.
struct HandlerRow {
  reduce::HandlerTable::Row handler;
  bool is_of_file = false;  // of [[handler]]; else somebody loaded it over the control socket
};

// Returns a mark as it is shown: text, as JSON has no integers of 64 bits that all programs read.
std::string mark_text(std::uint64_t mark);

// Loads and unloads the handlers of this process (reduce/handlers/table.h), from one thread at a
// time. What is unloaded is closed, taken out and destroyed, with a quiescent point of all packet
// cores behind each step.
class HandlerLoader {
 public:
  using Outcome = tl::expected<void, std::string>;  // the error says what to do
  // Returns when every packet core has been between two bursts since the call; else the error says
  // which was not.
  using Quiescence = std::function<Outcome()>;

  // `directory` is that of the shared objects that may be loaded; empty: none.
  HandlerLoader(std::string directory, Quiescence wait_for_cores);

  // The rows are in the order of their numbers.
  std::vector<HandlerRow> list() const;
  // Loads a handler by hand. What is there already, and open, is done; what was closed because it
  // is too slow begins anew.
  Outcome load(const HandlerConfig& wanted);
  // Unloads a handler by hand. On an error the handler stays closed: no packet finds it, and the
  // call can be repeated. It does nothing where there is none.
  Outcome unload(unsigned number);

  // Says what apply() would load, by marks: also what the file does not show, as a shared object
  // that is another one now, or a handler that somebody unloaded by hand. The error is why it would
  // be refused, but for packet cores that are late.
  tl::expected<std::vector<ConfigChange>, std::string> check(
      const std::vector<HandlerConfig>& file) const;
  // Makes what was loaded by the file before into what it says now, and leaves alone what was
  // loaded by hand. If it is refused, nothing has changed: where a packet core is late, what had to
  // go was closed only until then.
  Outcome apply(const std::vector<HandlerConfig>& file);

  // Says which handlers packet cores have closed since the last call, and what to do.
  std::vector<std::string> newly_slow();

 private:
  using Handler = std::unique_ptr<reduce::Handler>;
  using Numbers = std::vector<unsigned>;
  using NumberSet = std::bitset<wire::handlers_max>;
  struct Change {
    NumberSet named;  // by the file
    Numbers going;
    std::vector<std::pair<unsigned, Handler>> coming;
  };

  tl::expected<Change, std::string> change_to(const std::vector<HandlerConfig>& file) const;
  // Returns the handler for a number that may have it; null if it is there already.
  tl::expected<Handler, std::string> replacement(const HandlerConfig& wanted) const;
  Outcome unload_all(const Numbers& numbers);
  // Destroys handlers that were closed, once all cores have passed a point.
  void take_all(const Numbers& closed);

  std::string directory_;
  Quiescence wait_for_cores_;
  NumberSet of_file_;
  NumberSet told_;  // by newly_slow()
  // These were taken out, but a core that was late may still be in one of them.
  std::vector<Handler> retired_;
};

}  // namespace tributary::control
