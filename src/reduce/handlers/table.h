// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "reduce/handlers/handler.h"
#include "wire/element.h"

namespace tributary::reduce {

// The HandlerTable has the handlers of this process by their numbers. One control thread at a time
// changes it; packet cores read what it writes (handlers/slot.h) without a lock. A handler is
// unloaded in two steps, with a quiescent point of all packet cores behind each:
//   close(number), all cores pass a point, take(number), all cores pass a point, destroy it.
class HandlerTable {
 public:
  struct Row {
    unsigned number = 0;
    std::string name;
    wire::ElementType type = wire::ElementType::f32;
    std::uint64_t mark = 0;  // the handler's own, also while it is closed
    bool native = false;
    bool closed = false;
    bool too_slow = false;         // as packet cores found, which do not find it any more
    std::uint32_t ns_per_kib = 0;  // that they measured last (budget.h); 0: nothing yet
  };

  // Refuses, and says why, if the number is impossible or taken, be it by a handler that is closed.
  // A handler that was refused is destroyed.
  tl::expected<void, std::string> load(unsigned number, std::unique_ptr<Handler> handler);
  // From now on find_kernel does not find the handler, and its mark counts as 0. It still combines,
  // for those that found it before. Returns false if there is none, or it was closed before.
  bool close(unsigned number);
  // Undoes close(), for a handler that is to stay after all.
  void reopen(unsigned number);
  // Returns the handler if it is closed, else null: no call of combine() begins from now on.
  std::unique_ptr<Handler> take(unsigned number);

  // The rows stand in the order of their numbers.
  std::vector<Row> list() const;

 private:
  HandlerTable() = default;
  friend HandlerTable& handlers();

  struct Entry {
    std::unique_ptr<Handler> handler;
    bool closed = false;
  };
  std::array<Entry, wire::handlers_max> entries_;
};

// Returns the table of this process. It is never destroyed, since a thread may combine until the
// process ends.
HandlerTable& handlers();

}  // namespace tributary::reduce
