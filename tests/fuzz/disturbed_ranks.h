// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/call.h"
#include "host/clock.h"
#include "input.h"
#include "unit/host/values.h"
#include "wire/element.h"

namespace tributary::fuzz {

// What is reduced.
struct Vectors {
  std::uint32_t ranks = 0;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::size_t count = 0;  // elements
};

// No value: there is no such reduction.
inline std::optional<Vectors> draw_vectors(Input& input, std::uint32_t ranks) {
  const auto type = static_cast<wire::ElementType>(input.next() % wire::built_in_type_count);
  const auto op = static_cast<wire::Operator>(input.next() % wire::operator_count);
  const std::size_t count = input.next();
  return wire::is_valid(type, op) ? std::optional(Vectors{ranks, type, op, count}) : std::nullopt;
}

// Changes a few bytes of a packet, at places that the input names.
inline void scribble(Input& input, std::vector<std::byte>& bytes) {
  for (auto changes = input.next() % 8; changes > 0; --changes) {
    bytes[input.next() % bytes.size()] = static_cast<std::byte>(input.next());
  }
}

// An allreduce of these vectors over a network.
template <typename Network>
class DenseReduction {
 public:
  DenseReduction(Network& network, const Vectors& vectors) : network_(network), vectors_(vectors) {
    const auto& [ranks, type, op, count] = vectors_;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      in_.push_back(host::test::input(rank, count, type, op));
      out_.emplace_back(count * wire::element_bytes(type));
    }
  }

  void begin(std::uint32_t rank, host::Time deadline) {
    const auto& [ranks, type, op, count] = vectors_;
    network_[rank].begin(
        {host::Collective::allreduce, {in_[rank].data(), out_[rank].data(), count, type, op}},
        network_.now, deadline);
  }
  bool is_right(std::uint32_t rank) const {
    const auto& [ranks, type, op, count] = vectors_;
    return host::test::wrong_elements(out_[rank], ranks, count, type, op) == 0;
  }

 private:
  Network& network_;
  Vectors vectors_;
  std::vector<host::test::Elements> in_;
  std::vector<host::test::Elements> out_;
};

// Ranks that reduce over a network which the input controls: it delivers, drops, duplicates,
// reorders, damages and forges packets. Nothing may crash, every collective ends by its deadline,
// and as long as nothing was forged, it is right. `Forge` scribbles in a packet and makes it look
// whole again.
template <typename Network, typename Forge>
class DisturbedRanks {
 public:
  DisturbedRanks(Input& input, Network& network, Forge forge)
      : input_(input), network_(network), forge_(forge) {}

  // `make` makes what is begun by all ranks, of which there are two, one after the other.
  template <typename Make>
  void run(Make make) {
    reduce(make(), false);
    reduce(make(), true);
  }

 private:
  enum class Deed : std::uint8_t { deliver, drop, duplicate, rotate, damage, cut, forge, collect };
  static constexpr std::size_t queue_max = 200;

  template <typename Reduction>
  void reduce(Reduction reduction, bool last) {
    const auto deadline = network_.now + std::chrono::seconds(60);
    for (std::uint32_t rank = 0; rank < network_.size(); ++rank) {
      reduction.begin(rank, deadline);
      if (!input_.empty()) {
        disturb();
      }
    }
    while (!input_.empty() && (last || input_.next() % 64 != 63)) {
      disturb();
    }
    network_.run(deadline - network_.now);
    for (std::uint32_t rank = 0; rank < network_.size(); ++rank) {
      const auto& machine = network_[rank];
      assert(!machine.running());
      assert(!machine.failure() || !machine.failure()->message.empty());
      const bool succeeded = !machine.failure();
      assert(forged_ || succeeded);
      assert(forged_ || reduction.is_right(rank));
    }
    network_.now = deadline;
  }

  // Does one deed to the queue.
  void disturb() {
    auto& queue = network_.queue();
    const auto deed = static_cast<Deed>(input_.next() % 8);
    if (deed == Deed::collect || queue.empty()) {
      network_.collect(input_.next() % network_.size());
      return;
    }
    switch (deed) {
      case Deed::deliver:
        network_.deliver();
        return;
      case Deed::drop:
        queue.pop_front();
        return;
      case Deed::duplicate:
        if (queue.size() < queue_max) {
          queue.push_back(queue.front());
        }
        return;
      case Deed::rotate:
        std::rotate(queue.begin(), queue.begin() + input_.next() % queue.size(), queue.end());
        return;
      case Deed::damage:
        queue.front().bytes[input_.next() % queue.front().bytes.size()] ^= std::byte{input_.next()};
        break;
      case Deed::cut:
        queue.front().bytes.resize(1 + input_.next() % queue.front().bytes.size());
        break;
      default:
        forge_(input_, queue.front());
    }
    forged_ = true;  // packets are no longer what somebody sent
  }

  Input& input_;
  Network& network_;
  Forge forge_;
  bool forged_ = false;
};

}  // namespace tributary::fuzz
