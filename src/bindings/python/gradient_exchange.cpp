// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/python/gradient_exchange.h"

#include <chrono>
#include <pybind11/stl.h>
#include <span>
#include <utility>

#include "bindings/python/elements.h"
#include "bindings/python/errors.h"
#include "bindings/python/ranks.h"
#include "bindings/python/request.h"

namespace tributary::python {

namespace py = pybind11;

namespace {

// Returns the place of a name among others, as the numbers of tributary.h go.
int number_of(const std::string& name, const std::vector<std::string>& names,
              const std::string& what) {
  std::string all;
  for (std::size_t number = 0; number < names.size(); ++number) {
    if (names[number] == name) {
      return static_cast<int>(number);
    }
    all += (all.empty() ? "" : ", ") + names[number];
  }
  throw py::value_error("there is no " + what + " '" + name + "'; there are " + all);
}

std::uint64_t nanoseconds_of(const py::object& given) {
  return static_cast<std::uint64_t>(
      deadline_of(given).value_or(std::chrono::nanoseconds(0)).count());
}

std::span<float> floats_of(const View& view, const std::string& what) {
  if (elements_of(view, std::nullopt).type != TRIBUTARY_F32) {
    throw py::type_error(what + " are not of float32; give x.astype('float32')");
  }
  if (reinterpret_cast<std::uintptr_t>(view.data()) % alignof(float) != 0) {
    throw py::value_error(what + " are not at addresses of float32; give a copy");
  }
  return {static_cast<float*>(view.data()), view.bytes() / sizeof(float)};
}

// Returns a copy, which may be kept and written to.
py::object floats_for_python(const float* values, std::size_t count) {
  const auto bytes = py::reinterpret_steal<py::object>(PyByteArray_FromStringAndSize(
      reinterpret_cast<const char*>(values), static_cast<py::ssize_t>(count * sizeof(float))));
  if (!bytes) {
    throw py::error_already_set();
  }
  return py::memoryview(bytes).attr("cast")("f");
}

}  // namespace

tributary_gradient_exchange_options exchange_options_of(
    const std::string& synchrony, std::uint32_t staleness, double proportion,
    const std::string& stale, std::uint32_t catch_up, std::uint32_t regroup,
    const py::object& pause, const py::object& stall_warning) {
  tributary_gradient_exchange_options options = TRIBUTARY_GRADIENT_EXCHANGE_DEFAULTS;
  options.synchrony = number_of(synchrony, {"bsp", "ssp", "asp"}, "synchrony");
  options.staleness = staleness;
  options.proportion = proportion;
  options.stale = number_of(stale, {"wait", "drop"}, "way with stale ranks");
  options.catch_up = catch_up;
  options.regroup = regroup;
  options.pause_nanoseconds = nanoseconds_of(pause);
  options.stall_warning_nanoseconds = nanoseconds_of(stall_warning);
  return options;
}

GradientExchange::GradientExchange(const Communicator& communicator,
                                   std::vector<std::size_t> layers, py::object apply,
                                   const py::object& parameters,
                                   const tributary_gradient_exchange_options& options,
                                   const std::optional<tributary_sketch_options>& sketch)
    : comm_(communicator.usable()),
      ranks_(tributary_comm_size(comm_.get())),
      layers_(std::move(layers)),
      apply_(std::move(apply)) {
  if (PyCallable_Check(apply_.ptr()) == 0) {
    throw py::type_error("apply is called with each sum: give a function");
  }
  std::span<float> shared;
  if (!parameters.is_none()) {
    parameters_.emplace(parameters, View::Access::write, "the parameters");
    shared = floats_of(*parameters_, "the parameters");
  }
  auto all = options;
  all.on_wait = &GradientExchange::on_wait;
  outside([&] {
    tributary_gradient_exchange* made = nullptr;
    const auto create = [&](auto function, auto... more) {
      return function(&made, comm_.get(), layers_.data(), layers_.size(), shared.data(),
                      shared.size(), &GradientExchange::apply, this, &all, more...);
    };
    const auto result = sketch ? create(tributary_gradient_exchange_create_sketched, &*sketch)
                               : create(tributary_gradient_exchange_create);
    exchange_.reset(made);
    return result;
  });
}

GradientExchange::~GradientExchange() {
  if (!closed_ && exchange_ != nullptr) {
    abort();
  }
  dropped_ = true;
  {
    const py::gil_scoped_release others_run;
    exchange_.reset();
  }
  give_back();
}

template <typename Call>
void GradientExchange::outside(Call call) {
  if (busy_) {
    throw py::value_error("one thread at a time calls an exchange, and what applies does not");
  }
  auto result = TRIBUTARY_SUCCESS;
  busy_ = true;
  {
    const py::gil_scoped_release others_run;
    result = call();
  }
  busy_ = false;
  if (raised_) {
    std::rethrow_exception(std::exchange(raised_, nullptr));
  }
  check(result);
}

template <typename Body>
int GradientExchange::from_outside(Body body) {
  if (dropped_) {
    return 1;
  }
  const py::gil_scoped_acquire gil;
  try {
    if (!raised_) {
      body();
    }
  } catch (...) {
    raised_ = std::current_exception();
  }
  return raised_ ? 1 : 0;
}

int GradientExchange::apply(void* context, const tributary_layer_sum* sum) {
  auto& self = *static_cast<GradientExchange*>(context);
  return self.from_outside([&] {
    self.apply_(sum->layer, floats_for_python(sum->values, sum->count),
                ranks_in(sum->contributors, self.ranks_), sum->iteration);
  });
}

int GradientExchange::on_wait(void* context) {
  return static_cast<GradientExchange*>(context)->from_outside([] {
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
  });
}

std::uint64_t GradientExchange::enter() {
  std::uint64_t iteration = 0;
  outside([&] { return tributary_gradient_exchange_enter(exchange_.get(), &iteration); });
  return iteration;
}

void GradientExchange::offer(std::size_t layer, const py::object& gradient) {
  const View view(gradient, View::Access::read, "the gradient");
  const auto values = floats_of(view, "gradients");
  outside([&] {
    return tributary_gradient_exchange_offer(exchange_.get(), layer, values.data(), values.size());
  });
}

bool GradientExchange::finish() {
  int counted = 0;
  outside([&] { return tributary_gradient_exchange_finish(exchange_.get(), &counted); });
  return counted != 0;
}

void GradientExchange::close() {
  outside([&] { return tributary_gradient_exchange_close(exchange_.get()); });
  closed_ = true;
  give_back();
}

void GradientExchange::give_back() {
  auto comm = std::exchange(comm_, nullptr);
  const py::gil_scoped_release others_run;
  comm.reset();  // its end may wait for threads that want the interpreter
}

void GradientExchange::abort() const {
  if (comm_ != nullptr) {
    tributary_comm_abort(comm_.get());
  }
}

py::dict GradientExchange::gei() const {
  constexpr std::size_t rows_max = 256;
  const auto words = TRIBUTARY_RANK_WORDS(ranks_);
  std::vector<std::uint64_t> ranks(rows_max * layers_.size() * words);
  std::uint64_t first = 0;
  auto rows = rows_max;
  check(tributary_gradient_exchange_gei(exchange_.get(), &first, ranks.data(), &rows));
  py::dict all;
  const auto* at = ranks.data();
  for (std::size_t row = 0; row < rows; ++row) {
    py::list of_layers;
    for (std::size_t layer = 0; layer < layers_.size(); ++layer, at += words) {
      of_layers.append(ranks_in(at, ranks_));
    }
    all[py::int_(first + row)] = of_layers;
  }
  return all;
}

std::uint64_t GradientExchange::statistic(const std::string& name) const {
  std::uint64_t value = 0;
  check(tributary_gradient_exchange_statistic(exchange_.get(), name.c_str(), &value));
  return value;
}

}  // namespace tributary::python
