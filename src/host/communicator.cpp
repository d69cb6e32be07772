// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "host/call.h"
#include "host/canary/blocks.h"
#include "host/canary/collectives.h"
#include "host/clock.h"
#include "host/ring/ring.h"
#include "host/selection.h"
#include "host/setup.h"
#include "host/transport/driver.h"

namespace tributary {
namespace {

using host::Buffers;
using host::Clock;
using host::Time;

using host::Call;
using host::Collective;

// How long a destructor waits for the others', and how long it goes on answering when one of them
// is gone: as long as the longest pause between two requests of a worker.
constexpr auto farewell_patience = std::chrono::seconds(2);
constexpr auto farewell_grace = std::chrono::milliseconds(500);

bool writes_out(const Call& call, std::uint32_t rank) {
  return call.collective != Collective::reduce || call.root == rank;
}

Result<void> check(const Call& call, const CommunicatorOptions& options) {
  const auto invalid = [](const char* why) { return fail(Error::Code::invalid_argument, why); };
  const auto& buffers = call.buffers;
  if (call.root >= options.world_size) {
    return invalid("there is no such root among the ranks");
  }
  if (!wire::is_valid(buffers.type, buffers.op)) {
    return invalid("and, or and xor are for integers; type and operator must be known ones");
  }
  const bool has_out = writes_out(call, options.rank);
  if (buffers.count != 0 && (buffers.in == nullptr || (has_out && buffers.out == nullptr))) {
    return invalid("null buffer");
  }
  if (buffers.count > std::numeric_limits<std::size_t>::max() / 16) {
    return invalid("the count is impossible");
  }
  const auto distance = buffers.in < buffers.out
                            ? static_cast<std::size_t>(buffers.out - buffers.in)
                            : static_cast<std::size_t>(buffers.in - buffers.out);
  if (has_out && distance != 0 && distance < buffers.bytes()) {
    return invalid("in and out overlap without being the same");
  }
  return {};
}

Call call_of(Collective collective, const void* in, void* out, std::size_t count,
             wire::ElementType type, wire::Operator op, std::uint32_t root) {
  return Call{
      collective,
      Buffers{static_cast<const std::byte*>(in), static_cast<std::byte*>(out), count, type, op},
      root};
}

Call broadcast_of(void* inout, std::size_t count, wire::ElementType type, std::uint32_t root) {
  return call_of(Collective::broadcast, inout, inout, count, type, wire::Operator::sum, root);
}

void copy(const Buffers& buffers) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
}

host::CanaryTuning tuning_of(const CommunicatorOptions& options) {
  host::CanaryTuning tuning;
  tuning.attempts_max = options.attempts;
  tuning.host_fallback = options.fallback == Fallback::allow;
  return tuning;
}

}  // namespace

struct Communicator::State {
  // Of two and more ranks.
  struct Network {
    Network(host::Connections connections, const CommunicatorOptions& options)
        : machine(std::move(connections.job), tuning_of(options)),
          driver(machine, std::move(connections.transport)),
          ring(std::move(connections.ring)) {}

    CanaryStatistics statistics() {
      return driver.with_machine([this] { return machine.statistics(); });
    }
    // Blocks, so far, that hosts reduced without switches, as far as this rank had part in that.
    std::uint64_t blocks_by_hosts() {
      const auto sent = statistics();
      return sent.blocks_by_hosts + sent.contributions_direct_sent;
    }

    host::CanaryCollectives machine;
    host::Driver driver;
    host::Ring ring;
  };

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { farewell(); }

  Time deadline() const {
    return Clock::now() + std::min<std::chrono::nanoseconds>(options.deadline, host::deadline_max);
  }
  Result<void> select(Time until);
  void notify(const std::string& line) const;
  Result<void> run(const Call& call);
  Result<void> accept(Algorithm by, const Call& call) const;
  Result<void> run_by(Algorithm by, const Call& call);
  Result<void> run_canary(const Call& call);
  Result<void> run_ring(const Call& call);
  void farewell();

  CommunicatorOptions options;
  std::unique_ptr<Network> network;
  Algorithm algorithm = Algorithm::ring;
  std::uint64_t by_canary = 0;
  std::uint64_t by_ring = 0;
  bool switches_reduce = false;
  std::uint64_t blocks_by_hosts = 0;  // while it was found out
  bool hosts_helped = false;          // and it was said
  bool failed = false;                // the last collective
};

Result<void> Communicator::State::select(Time until) {
  const auto job = network->driver.job().id;
  if (options.algorithm == Algorithm::ring) {
    notify(host::choose_ring(options, job).notice);
    return {};
  }
  const auto choice = network->driver.start()
                          .and_then([&] {
                            return observe(network->machine, network->driver, network->ring, until);
                          })
                          .and_then([&](const host::Observation& observation) {
                            return choose(options, job, observation);
                          });
  if (!choice) {
    return tl::make_unexpected(choice.error());
  }
  algorithm = choice->algorithm;
  switches_reduce = choice->switches_reduce;
  blocks_by_hosts = network->blocks_by_hosts();
  if (options.fallback == Fallback::error) {
    network->driver.with_machine([this] { network->machine.require_switches(); });
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
  auto done = run_by(algorithm, call);
  if (done && network) {
    ++(algorithm == Algorithm::canary ? by_canary : by_ring);
  }
  return done;
}

Result<void> Communicator::State::accept(Algorithm by, const Call& call) const {
  if (auto checked = check(call, options); !checked) {
    return checked;
  }
  if (network && by == Algorithm::canary &&
      call.buffers.bytes() / network->driver.job().payload_bytes + 2 >= host::Blocks::count_max) {
    return fail(Error::Code::invalid_argument, "too many elements for one collective; split it");
  }
  return {};
}

Result<void> Communicator::State::run_by(Algorithm by, const Call& call) {
  if (auto accepted = accept(by, call); !accepted) {
    if (network && by == Algorithm::canary) {
      network->driver.skip(call);
    }
    return accepted;
  }
  if (!network) {
    copy(call.buffers);
    return {};
  }
  if (call.buffers.count == 0 && call.collective != Collective::barrier) {
    return {};
  }
  auto done = by == Algorithm::canary ? run_canary(call) : run_ring(call);
  failed = !done;
  return done;
}

Result<void> Communicator::State::run_canary(const Call& call) {
  auto done = network->driver.run(call, deadline());
  if (switches_reduce && !hosts_helped && network->blocks_by_hosts() != blocks_by_hosts) {
    hosts_helped = true;
    notify("job " + std::to_string(network->driver.job().id) +
           ": hosts had to reduce blocks themselves, because " + std::to_string(options.attempts) +
           " attempts lost contributions or no switch took part any more; 'tributaryctl drops' and "
           "'tributaryctl job' on the switches tell where (this is said once)");
  }
  return done;
}

Result<void> Communicator::State::run_ring(const Call& call) {
  auto& ring = network->ring;
  switch (call.collective) {
    case Collective::allreduce:
      return ring.allreduce(call.buffers, deadline());
    case Collective::reduce:
      return ring.reduce(call.buffers, call.root, deadline());
    case Collective::broadcast:
      return ring.broadcast(call.buffers, call.root, deadline());
    case Collective::barrier:
      break;
  }
  return ring.barrier(deadline());
}

// Whoever lost what this rank sent last would ask in vain once it is gone. So nobody goes before
// all have come here; the caretaker answers meanwhile. After an error there is nothing to wait for.
void Communicator::State::farewell() {
  if (!network || algorithm != Algorithm::canary || failed) {
    return;
  }
  const auto together = network->ring.barrier(Clock::now() + farewell_patience);
  if (!together && together.error().code != Error::Code::timeout && network->driver.retaining()) {
    std::this_thread::sleep_for(farewell_grace);
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
    const auto until = state->deadline();
    auto connections = host::connect(options, until);
    if (!connections) {
      return tl::make_unexpected(connections.error());
    }
    state->network = std::make_unique<State::Network>(std::move(*connections), options);
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
  return state_->run(call_of(Collective::allreduce, in, out, count, type, op, 0));
}
Result<void> Communicator::reduce(const void* in, void* out, std::size_t count,
                                  wire::ElementType type, wire::Operator op, std::uint32_t root) {
  return state_->run(call_of(Collective::reduce, in, out, count, type, op, root));
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
                        call_of(Collective::allreduce, in, out, count, type, op, 0));
}
Result<void> Communicator::ring_reduce(const void* in, void* out, std::size_t count,
                                       wire::ElementType type, wire::Operator op,
                                       std::uint32_t root) {
  return state_->run_by(Algorithm::ring,
                        call_of(Collective::reduce, in, out, count, type, op, root));
}
Result<void> Communicator::ring_broadcast(void* inout, std::size_t count, wire::ElementType type,
                                          std::uint32_t root) {
  return state_->run_by(Algorithm::ring, broadcast_of(inout, count, type, root));
}
Result<void> Communicator::ring_barrier() {
  return state_->run_by(Algorithm::ring, Call{Collective::barrier, {}, 0});
}

std::uint32_t Communicator::rank() const {
  return state_->options.rank;
}
std::uint32_t Communicator::world_size() const {
  return state_->options.world_size;
}
std::uint32_t Communicator::job() const {
  return state_->network ? state_->network->driver.job().id : 0;
}
std::uint32_t Communicator::payload_bytes_max() const {
  return state_->network ? state_->network->driver.job().payload_bytes : 0;
}
std::uint32_t Communicator::window() const {
  return state_->network ? state_->network->driver.job().window : 0;
}
CommunicatorStatistics Communicator::statistics() const {
  CommunicatorStatistics statistics;
  if (state_->network) {
    static_cast<CanaryStatistics&>(statistics) = state_->network->statistics();
  }
  statistics.collectives_by_canary = state_->by_canary;
  statistics.collectives_by_ring = state_->by_ring;
  return statistics;
}

}  // namespace tributary
