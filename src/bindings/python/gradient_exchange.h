// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

#include "bindings/python/communicator.h"
#include "bindings/python/view.h"
#include "host/c/tributary.h"

namespace tributary::python {

// A GradientExchange adds up gradients of ranks that may be some iterations apart; it belongs to
// one thread at a time.
class GradientExchange {
 public:
  // Without a sketch, gradients go as they are. `apply` is called with a layer, a memoryview of
  // floats that is its own, a list of ranks, and the iteration.
  GradientExchange(const Communicator& communicator, std::vector<std::size_t> layers,
                   pybind11::object apply, const pybind11::object& parameters,
                   const tributary_gradient_exchange_options& options,
                   const std::optional<tributary_sketch_options>& sketch);
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;
  // An exchange that was not closed is aborted: nothing is applied where nobody can see to it.
  ~GradientExchange();

  std::uint64_t enter();
  void offer(std::size_t layer, const pybind11::object& gradient);
  bool finish();
  void close();
  void abort() const;
  bool is_closed() const { return closed_; }

  // For the garbage collector: what is called with sums may refer to who has the exchange.
  const pybind11::object& what_applies() const { return apply_; }
  void let_go() { apply_ = pybind11::none(); }

  // Returns, by iteration and layer, the ranks whose gradients are in sums.
  pybind11::dict gei() const;
  std::uint64_t statistic(const std::string& name) const;

 private:
  struct Destroy {
    void operator()(tributary_gradient_exchange* exchange) const {
      tributary_gradient_exchange_destroy(exchange);
    }
  };

  static int apply(void* context, const tributary_layer_sum* sum);
  static int on_wait(void* context);
  // Calls `body` with the GIL, and remembers what it raises; returns 0 if that is nothing.
  template <typename Body>
  int from_outside(Body body);
  // Calls `call` without the GIL. Throws what was raised meanwhile, or else how it has failed.
  template <typename Call>
  void outside(Call call);
  void give_back();

  std::shared_ptr<tributary_comm> comm_;  // null once it was given back
  const std::uint32_t ranks_;
  const std::vector<std::size_t> layers_;
  pybind11::object apply_;
  std::optional<View> parameters_;
  std::exception_ptr raised_;
  bool busy_ = false;  // a thread is in a call
  bool closed_ = false;
  bool dropped_ = false;
  std::unique_ptr<tributary_gradient_exchange, Destroy> exchange_;
};

// Takes keywords of Python. Throws ValueError for what makes no sense.
tributary_gradient_exchange_options exchange_options_of(
    const std::string& synchrony, std::uint32_t staleness, double proportion,
    const std::string& stale, std::uint32_t catch_up, std::uint32_t regroup,
    const pybind11::object& pause, const pybind11::object& stall_warning);

}  // namespace tributary::python
