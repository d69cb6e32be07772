// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "host/call.h"
#include "host/call_check.h"
#include "host/carrier.h"
#include "host/clock.h"
#include "host/deadline.h"
#include "host/probe.h"
#include "host/setup.h"

namespace tributary {
namespace {

using host::Buffers;
using host::Clock;
using host::Time;

using host::Call;
using host::Collective;

// How long a destructor waits for the others', and how long it goes on answering when one of them
// is gone: as long as the longest pause between two requests of a worker.
constexpr auto finalize_timeout = std::chrono::seconds(2);
constexpr auto finalize_grace = std::chrono::milliseconds(500);
constexpr auto finalize_pause = std::chrono::milliseconds(10);

Buffers buffers_of(const void* in, void* out, std::size_t count, wire::ElementType type,
                   wire::Operator op) {
  return {static_cast<const std::byte*>(in), static_cast<std::byte*>(out), count, type, op};
}

Call broadcast_of(void* inout, std::size_t count, wire::ElementType type, std::uint32_t root) {
  return {Collective::broadcast, buffers_of(inout, inout, count, type, wire::Operator::sum), root};
}

void copy(const Buffers& buffers) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
}

}  // namespace

struct Communicator::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { finalize(); }

  // Of a collective that begins now.
  host::Deadline deadline() const {
    auto deadline = host::deadline_of(options, Clock::now());
    deadline.show(pulse);
    return deadline;
  }
  // What does not make progress takes no longer.
  Time patience() const { return Clock::now() + host::patience_of(options); }
  Result<void> select(Time until);
  void notify(const std::string& line) const;
  Result<void> run(const Call& call);
  Algorithm algorithm_for(const Call& call) const;
  Figures collectives_by_algorithm() const;
  Result<void> accept(Algorithm by, const Call& call) const;
  Result<void> run_by(Algorithm by, const Call& call);
  void say_if_hosts_helped();
  Result<void> run_ring(const Call& call);
  void finalize();
  // Precondition: there are two ranks or more.
  const host::Job& job() const { return carrier->runner().job(); }

  CommunicatorOptions options;
  std::unique_ptr<host::Carrier> carrier;  // both of two and more ranks
  std::optional<host::Ring> ring;
  Algorithm algorithm = Algorithm::ring;
  std::array<std::uint64_t, algorithm_count> collectives{};  // by algorithm
  bool switches_reduce = false;
  std::uint64_t blocks_by_hosts = 0;  // while it was found out
  bool hosts_helped = false;          // and it was said
  bool failed = false;                // the last collective
  std::uint64_t* pulse = nullptr;     // see show_progress()
};

Result<void> Communicator::State::select(Time until) {
  if (options.algorithm == Algorithm::ring || options.algorithm == Algorithm::roce_ring) {
    const auto choice = host::choose_ring(options, job().id);
    algorithm = choice.algorithm;
    notify(choice.notice);
    return algorithm == Algorithm::ring ? Result<void>() : carrier->attend();
  }
  if (auto attending = carrier->attend(); !attending) {
    return attending;
  }
  const auto choice = carrier->find_out(*ring, until);
  if (!choice) {
    return tl::make_unexpected(choice.error());
  }
  algorithm = choice->algorithm;
  switches_reduce = choice->switches_reduce;
  blocks_by_hosts = carrier->blocks_by_hosts();
  if (options.fallback == Fallback::error) {
    carrier->require_switches();
  }
  notify(choice->notice);
  return {};
}

void Communicator::State::notify(const std::string& line) const {
  if (options.on_notice) {
    options.on_notice(line);
  } else if (options.rank == 0) {
    std::fprintf(stderr, "tributary: %s\n", line.c_str());
  }
}

Result<void> Communicator::State::run(const Call& call) {
  const auto by = algorithm_for(call);
  auto done = run_by(by, call);
  if (done && carrier) {
    ++collectives[static_cast<std::size_t>(by)];
  }
  return done;
}

Figures Communicator::State::collectives_by_algorithm() const {
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < algorithm_count; ++i) {
    if (const auto one = static_cast<Algorithm>(i); one != Algorithm::automatic) {
      std::string by(name(one));
      std::replace(by.begin(), by.end(), '-', '_');
      figures.push_back({"collectives_by_" + by, collectives[i]});
    }
  }
  return Figures(std::move(figures));
}

Algorithm Communicator::State::algorithm_for(const Call& call) const {
  return algorithm != Algorithm::ring && !carrier->takes(call) ? Algorithm::ring : algorithm;
}

Result<void> Communicator::State::accept(Algorithm by, const Call& call) const {
  if (auto checked = host::check(call, options); !checked) {
    return checked;
  }
  if (carrier && by != Algorithm::ring &&
      call.buffers.bytes() / job().payload_bytes + 2 >= carrier->packets_max()) {
    return fail(Error::Code::invalid_argument, "too many elements for one collective; split it");
  }
  return {};
}

Result<void> Communicator::State::run_by(Algorithm by, const Call& call) {
  if (auto accepted = accept(by, call); !accepted) {
    if (carrier && by != Algorithm::ring) {
      carrier->runner().skip(call);
    }
    return accepted;
  }
  if (!carrier) {
    copy(call.buffers);
    return {};
  }
  if (call.buffers.count == 0 && call.collective != Collective::barrier) {
    return {};
  }
  auto done = by == Algorithm::ring ? run_ring(call) : carrier->runner().run(call, deadline());
  failed = !done;
  if (by != Algorithm::ring) {
    say_if_hosts_helped();
  }
  return done;
}

void Communicator::State::say_if_hosts_helped() {
  if (switches_reduce && !hosts_helped && carrier->blocks_by_hosts() != blocks_by_hosts) {
    hosts_helped = true;
    notify("job " + std::to_string(job().id) + ": hosts had to reduce blocks themselves, because " +
           std::to_string(options.attempts) +
           " attempts lost contributions or no switch took part any more; 'tributaryctl drops' and "
           "'tributaryctl job' on the switches tell where (this is said once)");
  }
}

Result<void> Communicator::State::run_ring(const Call& call) {
  switch (call.collective) {
    case Collective::allreduce:
      return ring->allreduce(call.buffers, deadline());
    case Collective::reduce:
      return ring->reduce(call.buffers, call.root, deadline());
    case Collective::broadcast:
      return ring->broadcast(call.buffers, call.root, deadline());
    case Collective::barrier:
      break;
  }
  return ring->barrier(deadline());
}

// Whoever lost what this rank sent last would ask in vain once it is gone. So nobody goes before
// all have come here; the progress thread answers meanwhile. After an error there is nothing to
// wait for.
void Communicator::State::finalize() {
  const bool answers = algorithm != Algorithm::ring;
  if (!ring || !answers || failed) {
    return;
  }
  const auto together = ring->barrier(Clock::now() + finalize_timeout);
  if (together) {
    return;
  }
  if (together.error().code != Error::Code::timeout) {
    if (carrier->runner().retaining()) {
      std::this_thread::sleep_for(finalize_grace);
    }
    return;
  }
  // What a device sends again may take seconds: it is patient.
  const auto until = patience();
  while (carrier->on_device() && carrier->runner().retaining() && Clock::now() < until) {
    std::this_thread::sleep_for(finalize_pause);
  }
}

Communicator::Communicator(std::unique_ptr<State> state) : state_(std::move(state)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Result<Communicator> Communicator::create(const CommunicatorOptions& options) {
  if (auto checked = host::check(options); !checked) {
    return tl::make_unexpected(checked.error());
  }
  auto state = std::make_unique<State>();
  state->options = options;
  if (options.world_size > 1) {
    const auto until = state->patience();
    auto connections = host::connect(options, until);
    if (!connections) {
      return tl::make_unexpected(connections.error());
    }
    state->ring = std::move(connections->ring);
    state->carrier = host::make_carrier(std::move(*connections), state->options);
    if (auto selected = state->select(until); !selected) {
      return tl::make_unexpected(selected.error());
    }
  }
  return Communicator(std::move(state));
}

Algorithm Communicator::algorithm() const {
  return state_->algorithm;
}

Result<void> Communicator::allreduce(const void* in, void* out, std::size_t count,
                                     wire::ElementType type, wire::Operator op) {
  return state_->run(Call{Collective::allreduce, buffers_of(in, out, count, type, op), 0});
}
Result<void> Communicator::reduce(const void* in, void* out, std::size_t count,
                                  wire::ElementType type, wire::Operator op, std::uint32_t root) {
  return state_->run(Call{Collective::reduce, buffers_of(in, out, count, type, op), root});
}
Result<void> Communicator::broadcast(void* inout, std::size_t count, wire::ElementType type,
                                     std::uint32_t root) {
  return state_->run(broadcast_of(inout, count, type, root));
}
Result<void> Communicator::barrier() {
  return state_->run(Call{Collective::barrier, {}, 0});
}

Result<void> Communicator::ring_allreduce(const void* in, void* out, std::size_t count,
                                          wire::ElementType type, wire::Operator op) {
  return state_->run_by(Algorithm::ring,
                        Call{Collective::allreduce, buffers_of(in, out, count, type, op), 0});
}
Result<void> Communicator::ring_reduce(const void* in, void* out, std::size_t count,
                                       wire::ElementType type, wire::Operator op,
                                       std::uint32_t root) {
  return state_->run_by(Algorithm::ring,
                        Call{Collective::reduce, buffers_of(in, out, count, type, op), root});
}
Result<void> Communicator::ring_broadcast(void* inout, std::size_t count, wire::ElementType type,
                                          std::uint32_t root) {
  return state_->run_by(Algorithm::ring, broadcast_of(inout, count, type, root));
}
Result<void> Communicator::ring_barrier() {
  return state_->run_by(Algorithm::ring, Call{Collective::barrier, {}, 0});
}

void Communicator::show_progress(std::uint64_t* pulse) {
  state_->pulse = pulse;
}

std::uint32_t Communicator::rank() const {
  return state_->options.rank;
}
std::uint32_t Communicator::world_size() const {
  return state_->options.world_size;
}
std::uint32_t Communicator::job() const {
  return state_->carrier ? state_->job().id : 0;
}
std::uint32_t Communicator::payload_bytes_max() const {
  return state_->carrier ? state_->job().payload_bytes : 0;
}
std::uint32_t Communicator::window() const {
  return state_->carrier ? state_->job().window : 0;
}
CommunicatorStatistics Communicator::statistics() const {
  const auto& carrier = state_->carrier;
  return {state_->collectives_by_algorithm(),
          carrier ? carrier->statistics() : ProtocolStatistics{}};
}

}  // namespace tributary
