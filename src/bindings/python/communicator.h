// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

#include "bindings/python/elements.h"
#include "bindings/python/options.h"
#include "bindings/python/request.h"
#include "bindings/python/sketch.h"
#include "bindings/python/view.h"
#include "bindings/python/whole.h"
#include "host/c/tributary.h"

namespace tributary::python {

using Dtype = std::optional<std::string>;
using Deadline = std::optional<std::chrono::nanoseconds>;
using Root = Whole<std::uint32_t, "root">;

// The methods with an i before their names post, those without it wait as well.
class Communicator {
 public:
  explicit Communicator(const pybind11::kwargs& options);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  std::uint32_t rank() const { return tributary_comm_rank(usable().get()); }
  std::uint32_t size() const { return tributary_comm_size(usable().get()); }
  std::string algorithm() const { return tributary_comm_algorithm(usable().get()); }
  std::uint64_t statistic(const std::string& name) const;
  bool is_closed() const { return comm_ == nullptr; }
  // Returns tuples of the first element, the number of elements, and the ranks that these lack.
  pybind11::list partial_results() const;

  Request iallreduce(const pybind11::object& buffer, const std::string& op,
                     const pybind11::object& out, const Dtype& dtype,
                     const pybind11::object& deadline);
  Request ireduce(const pybind11::object& buffer, Root root, const std::string& op,
                  const pybind11::object& out, const Dtype& dtype,
                  const pybind11::object& deadline);
  Request ibroadcast(const pybind11::object& buffer, Root root, const pybind11::object& deadline);
  Request ibarrier(const pybind11::object& deadline);
  Request iallgather(const pybind11::object& buffer, const pybind11::object& out,
                     const pybind11::object& deadline);
  Request ireduce_scatter(const pybind11::object& buffer, const pybind11::object& out,
                          const std::string& op, const Dtype& dtype,
                          const pybind11::object& deadline);

  Request isketched_allreduce(const pybind11::object& buffer, const Sketch& sketch,
                              const pybind11::object& out, const pybind11::object& deadline);

  // Returns the result of the request. If a signal's handler raises, the communicator is aborted,
  // so that its buffers are Python's again when the exception is on its way.
  pybind11::object finish(Request request);

  // Returns None for a negative colour, as for the colour None.
  std::unique_ptr<Communicator> split(std::optional<std::int64_t> color, std::int64_t key) const;

  // Returns the communicator of the next membership of an elastic world.
  std::unique_ptr<Communicator> regroup(Whole<std::uint32_t, "size"> size) const;
  pybind11::dict membership() const;

  void abort() const;
  // Throws what a signal's handler raises, when all has ended: the communicator is aborted then.
  void close();

  // Throws ValueError when the communicator is closed.
  using Handle = std::shared_ptr<tributary_comm>;
  const Handle& usable() const;

 private:
  Communicator(tributary_comm* comm, std::shared_ptr<Notice> notice);
  Request keep(tributary_request* request, std::vector<View> views, pybind11::object result,
               const Deadline& deadline);
  // Ends the communicator. With `heeds_signals`, a signal whose handler raises aborts it before.
  void end(bool heeds_signals);

  std::shared_ptr<Notice> notice_;
  Handle comm_;
  Handle ending_;  // not null while close() waits
  // These may be in use still, whether anybody waits for them or not.
  std::vector<std::shared_ptr<Posted>> posted_;
};

}  // namespace tributary::python
