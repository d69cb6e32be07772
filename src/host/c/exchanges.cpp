// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/c/border.h"
#include "host/c/objects.h"
#include "host/c/sketches.h"
#include "host/c/tributary.h"
#include "host/text.h"
#include "host/training/gradient_exchange.h"

using namespace tributary;  // the functions are C's
using host::invalid;
using host::c::guarded;

namespace {

// The function that applies sums has said that it cannot.
struct NotApplied {};

std::chrono::nanoseconds so_many_nanoseconds(std::uint64_t given) {
  constexpr std::uint64_t longest = std::numeric_limits<std::int64_t>::max();
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(given, longest)));
}

Result<GradientExchangeOptions> exchange_options_of(
    const tributary_gradient_exchange_options& given, void* context) {
  if (given.synchrony < TRIBUTARY_BSP || given.synchrony > TRIBUTARY_ASP) {
    return invalid("there is no synchrony " + std::to_string(given.synchrony));
  }
  if (given.stale != TRIBUTARY_STALE_WAIT && given.stale != TRIBUTARY_STALE_DROP) {
    return invalid("nothing that may become of a stale rank has the number " +
                   std::to_string(given.stale));
  }
  GradientExchangeOptions options;
  options.synchrony = static_cast<Synchrony>(given.synchrony);
  options.staleness = given.staleness;
  options.proportion = given.proportion;
  options.stale = static_cast<Stale>(given.stale);
  options.catch_up = given.catch_up;
  options.regroup = given.regroup;
  options.pause = so_many_nanoseconds(given.pause_nanoseconds);
  options.stall_warning = so_many_nanoseconds(given.stall_warning_nanoseconds);
  if (given.on_wait != nullptr) {
    options.on_wait = [on_wait = given.on_wait, context] { return on_wait(context) == 0; };
  }
  return options;
}

static_assert(TRIBUTARY_ASP == static_cast<int>(Synchrony::asp));
static_assert(TRIBUTARY_STALE_DROP == static_cast<int>(Stale::drop));

GradientExchange::Apply applied_by(tributary_apply_function apply, void* context) {
  return [=](const LayerSum& sum) {
    const tributary_layer_sum told{sum.layer,
                                   sum.values.data(),
                                   sum.values.size(),
                                   sum.contributors.words().data(),
                                   sum.contributors.count(),
                                   sum.iteration};
    if (apply(context, &told) != 0) {
      throw NotApplied{};
    }
  };
}

Result<void> exchange_is_here(const tributary_gradient_exchange* exchange) {
  if (exchange == nullptr) {
    return invalid("there is no exchange of gradients");
  }
  return exchange->process == ::getpid()
             ? Result<void>()
             : invalid("the exchange was made before this process forked, by its parent");
}

// Calls use(exchange) if it is there, and aborts the communicator if a sum cannot be applied.
template <typename Use>
tributary_result with_exchange(tributary_gradient_exchange* exchange, Use use) {
  return guarded([&]() -> Result<void> {
    if (auto here = exchange_is_here(exchange); !here) {
      return here;
    }
    try {
      return use(*exchange->exchange);
    } catch (const NotApplied&) {
      exchange->stream->abort();
      return fail(Error::Code::aborted,
                  "a sum could not be applied, as its function says: this rank has aborted the "
                  "communicator");
    }
  });
}

Result<void> open_exchange(std::unique_ptr<tributary_gradient_exchange>& made,
                           const std::vector<std::size_t>& layers, std::span<float> parameters,
                           const GradientExchange::Apply& apply,
                           const GradientExchangeOptions& options) {
  const auto over = [&](Communicator& communicator) {
    return GradientExchange::over(communicator, layers, parameters, apply, options)
        .map([&](GradientExchange&& exchange) { made->exchange.emplace(std::move(exchange)); });
  };
  return made->stream->lend(over).map([&] { made->has_communicator = true; });
}

// Writes the last rows that there is room for.
void write_gei_rows(const GeiMatrix& gei, std::uint64_t& first, std::uint64_t* ranks,
                    std::size_t& rows) {
  const auto kept = gei.latest() - gei.first() + 1;
  rows = std::min<std::size_t>(rows, kept);
  first = gei.latest() + 1 - rows;
  for (auto iteration = first; iteration <= gei.latest(); ++iteration) {
    for (const auto& set : *gei.row(iteration)) {
      ranks = std::ranges::copy(set.words(), ranks).out;
    }
  }
}

// What an exchange of gradients is created with.
struct Creation {
  tributary_gradient_exchange** exchange;
  tributary_comm* comm;
  std::span<const size_t> layers;
  std::span<float> parameters;
  tributary_apply_function apply;
  void* context;
};

Result<void> create_exchange(const Creation& given,
                             const tributary_gradient_exchange_options* options,
                             const std::optional<SketchOptions>& sketch) {
  if (given.exchange == nullptr) {
    return invalid("there is no place for the exchange");
  }
  *given.exchange = nullptr;
  if (given.apply == nullptr || (given.layers.data() == nullptr && !given.layers.empty()) ||
      (given.parameters.data() == nullptr && !given.parameters.empty())) {
    return invalid("an exchange has layers, and a function that applies their sums");
  }
  const tributary_gradient_exchange_options defaults = TRIBUTARY_GRADIENT_EXCHANGE_DEFAULTS;
  auto all = exchange_options_of(options == nullptr ? defaults : *options, given.context);
  if (!all) {
    return tl::make_unexpected(all.error());
  }
  all->sketch = sketch;
  if (auto usable = host::c::usable(given.comm); !usable) {
    return usable;
  }
  auto made =
      std::make_unique<tributary_gradient_exchange>(given.comm->stream, given.layers.size());
  return open_exchange(made, {given.layers.begin(), given.layers.end()}, given.parameters,
                       applied_by(given.apply, given.context), *all)
      .map([&] { *given.exchange = made.release(); });
}

}  // namespace

tributary_result tributary_gradient_exchange_create(
    tributary_gradient_exchange** exchange, tributary_comm* comm, const size_t* layers,
    size_t layer_count, float* parameters, size_t parameter_count, tributary_apply_function apply,
    void* context, const tributary_gradient_exchange_options* options) {
  return guarded([&] {
    return create_exchange(
        {exchange, comm, {layers, layer_count}, {parameters, parameter_count}, apply, context},
        options, std::nullopt);
  });
}

tributary_result tributary_gradient_exchange_create_sketched(
    tributary_gradient_exchange** exchange, tributary_comm* comm, const size_t* layers,
    size_t layer_count, float* parameters, size_t parameter_count, tributary_apply_function apply,
    void* context, const tributary_gradient_exchange_options* options,
    const tributary_sketch_options* sketch) {
  return guarded([&] {
    if (exchange != nullptr) {
      *exchange = nullptr;
    }
    const tributary_sketch_options defaults = TRIBUTARY_SKETCH_DEFAULTS;
    return host::c::sketch_options_of(sketch == nullptr ? defaults : *sketch)
        .and_then([&](const SketchOptions& all) {
          return create_exchange({exchange,
                                  comm,
                                  {layers, layer_count},
                                  {parameters, parameter_count},
                                  apply,
                                  context},
                                 options, all);
        });
  });
}

tributary_result tributary_gradient_exchange_enter(tributary_gradient_exchange* exchange,
                                                   uint64_t* iteration) {
  return with_exchange(exchange, [&](GradientExchange& used) {
    return used.enter().map([&](std::uint64_t entered) {
      if (iteration != nullptr) {
        *iteration = entered;
      }
    });
  });
}

tributary_result tributary_gradient_exchange_offer(tributary_gradient_exchange* exchange,
                                                   size_t layer, const float* gradient,
                                                   size_t count) {
  return with_exchange(exchange, [&](GradientExchange& used) -> Result<void> {
    return gradient == nullptr ? invalid("there is no gradient")
                               : used.offer(layer, std::span(gradient, count));
  });
}

tributary_result tributary_gradient_exchange_finish(tributary_gradient_exchange* exchange,
                                                    int* counted) {
  return with_exchange(exchange, [&](GradientExchange& used) {
    return used.finish().map([&](bool all) {
      if (counted != nullptr) {
        *counted = all ? 1 : 0;
      }
    });
  });
}

tributary_result tributary_gradient_exchange_close(tributary_gradient_exchange* exchange) {
  return with_exchange(exchange, [&](GradientExchange& used) {
    return used.close().map([&] { exchange->give_back(); });
  });
}

tributary_result tributary_gradient_exchange_gei(const tributary_gradient_exchange* exchange,
                                                 uint64_t* first, uint64_t* ranks, size_t* rows) {
  return guarded([&]() -> Result<void> {
    if (first == nullptr || rows == nullptr || (ranks == nullptr && *rows != 0)) {
      return invalid("there is no place for the rows, or for their number");
    }
    return exchange_is_here(exchange).map(
        [&] { write_gei_rows(exchange->exchange->gei(), *first, ranks, *rows); });
  });
}

tributary_result tributary_gradient_exchange_statistic(const tributary_gradient_exchange* exchange,
                                                       const char* name, uint64_t* value) {
  return guarded([&]() -> Result<void> {
    if (name == nullptr || value == nullptr) {
      return invalid("a statistic has a name, and a place to be put into");
    }
    if (auto here = exchange_is_here(exchange); !here) {
      return here;
    }
    const auto figures = exchange->exchange->statistics();
    if (figures.find(name) == nullptr) {
      return invalid("nothing is counted by the name of " + std::string(name));
    }
    *value = figures[name];
    return {};
  });
}

void tributary_gradient_exchange_destroy(tributary_gradient_exchange* exchange) {
  if (exchange_is_here(exchange)) {
    delete exchange;
  }
}
