// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "host/address.h"
#include "host/canary_allreduce.h"
#include "host/clock.h"
#include "host/outbox.h"
#include "host/ring.h"
#include "host/setup.h"
#include "host/uring_transport.h"

namespace tributary {
namespace {

using host::Buffers;
using host::Clock;
using host::Time;

constexpr std::size_t outbox_datagrams = 256;
constexpr std::size_t blocks_max = std::size_t{1} << 31;  // ids of two collectives must differ

Result<void> check(const Buffers& buffers) {
  if (!wire::is_valid(buffers.type, buffers.op)) {
    return fail(Error::Code::invalid_argument,
                "and, or and xor are for integers; type and operator must be known ones");
  }
  if (buffers.count != 0 && (buffers.in == nullptr || buffers.out == nullptr)) {
    return fail(Error::Code::invalid_argument, "null buffer");
  }
  if (buffers.count > std::numeric_limits<std::size_t>::max() / 16) {
    return fail(Error::Code::invalid_argument, "the count is impossible");
  }
  const auto distance = buffers.in < buffers.out
                            ? static_cast<std::size_t>(buffers.out - buffers.in)
                            : static_cast<std::size_t>(buffers.in - buffers.out);
  if (distance != 0 && distance < buffers.bytes()) {
    return fail(Error::Code::invalid_argument, "in and out overlap without being the same");
  }
  return {};
}

Buffers buffers_of(const void* in, void* out, std::size_t count, wire::ElementType type,
                   wire::Operator op) {
  return Buffers{static_cast<const std::byte*>(in), static_cast<std::byte*>(out), count, type, op};
}

void copy(const Buffers& buffers) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
}

}  // namespace

struct Communicator::State {
  // Of two and more ranks.
  struct Network {
    explicit Network(host::Connections connections)
        : canary(std::move(connections.job)),
          transport(std::move(connections.transport)),
          ring(std::move(connections.ring)) {}
    host::CanaryAllreduce canary;
    host::Outbox outbox{outbox_datagrams};
    host::UringTransport transport;
    host::Ring ring;
  };

  CommunicatorOptions options;
  std::unique_ptr<Network> network;

  Time deadline() const {
    return Clock::now() + std::min<std::chrono::nanoseconds>(options.deadline, host::deadline_max);
  }
  Result<void> run(const Buffers& buffers);
  Result<void> drive(Time until);
};

// Drives the machine until it has an answer.
Result<void> Communicator::State::drive(Time until) {
  auto& canary = network->canary;
  for (;;) {
    canary.poll(network->outbox);
    if (canary.failure()) {  // what came early may already have made begin() fail
      return tl::make_unexpected(*canary.failure());
    }
    if (!canary.running() && network->outbox.empty()) {
      return {};
    }
    // Once the machine is done there are only its last packets to send, and nothing to wait for.
    const auto wait_until = canary.running() ? until : Clock::now();
    const auto arrived = network->transport.exchange(network->outbox, wait_until);
    if (!arrived) {
      return tl::make_unexpected(arrived.error());
    }
    for (const auto datagram : *arrived) {
      canary.receive(datagram);
    }
    canary.note_trouble(network->transport.trouble());
    canary.expire(Clock::now());
    if (!canary.running() && Clock::now() >= until + std::chrono::seconds(1)) {
      return fail(Error::Code::timeout, "the socket does not take the last results of this rank");
    }
  }
}

Result<void> Communicator::State::run(const Buffers& buffers) {
  const auto until = deadline();
  network->canary.begin(buffers, until);
  auto result = drive(until);
  if (!result) {
    network->canary.abandon();
    network->outbox.clear();
  }
  // The caller may reuse its buffers as soon as this returns.
  const auto flushed =
      network->transport.flush(std::max(until, Clock::now()) + std::chrono::seconds(1));
  return result ? flushed : result;
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
    auto connections = host::connect(options, state->deadline());
    if (!connections) {
      return tl::make_unexpected(connections.error());
    }
    state->network = std::make_unique<State::Network>(std::move(*connections));
  }
  return Communicator(std::move(state));
}

Result<void> Communicator::allreduce(const void* in, void* out, std::size_t count,
                                     wire::ElementType type, wire::Operator op) {
  const auto buffers = buffers_of(in, out, count, type, op);
  if (auto checked = check(buffers); !checked) {
    return checked;
  }
  if (!state_->network) {
    copy(buffers);
    return {};
  }
  if (buffers.bytes() / payload_bytes_max() >= blocks_max) {
    return fail(Error::Code::invalid_argument, "too many elements for one allreduce; split it");
  }
  return count == 0 ? Result<void>{} : state_->run(buffers);
}

Result<void> Communicator::ring_allreduce(const void* in, void* out, std::size_t count,
                                          wire::ElementType type, wire::Operator op) {
  const auto buffers = buffers_of(in, out, count, type, op);
  if (auto checked = check(buffers); !checked) {
    return checked;
  }
  if (!state_->network) {
    copy(buffers);
    return {};
  }
  return count == 0 ? Result<void>{} : state_->network->ring.allreduce(buffers, state_->deadline());
}

Result<void> Communicator::barrier() {
  return state_->network ? state_->network->ring.barrier(state_->deadline()) : Result<void>{};
}

std::uint32_t Communicator::rank() const {
  return state_->options.rank;
}
std::uint32_t Communicator::world_size() const {
  return state_->options.world_size;
}

std::uint32_t Communicator::payload_bytes_max() const {
  return state_->network ? state_->network->canary.job().payload_bytes : 0;
}
std::uint32_t Communicator::window() const {
  return state_->network ? state_->network->canary.job().window : 0;
}
CanaryStatistics Communicator::statistics() const {
  return state_->network ? state_->network->canary.statistics() : CanaryStatistics{};
}

}  // namespace tributary
