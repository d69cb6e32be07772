// SPDX-License-Identifier: BSD-3-Clause
// Tests sums of handlers: which are accepted, and what happens with the others.
#include "support/handlers.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_network.h"
#include "vectors.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;
using tributary::test::LoadedHandler;
using tributary::test::OneLess;
using wire::CanaryKind;
using wire::ElementType;

constexpr unsigned number = 5;

class CanaryHostHandlers : public testing::Test {
 protected:
  using Ints = std::vector<std::int32_t>;

  // Rank r has r, r + 1, ...
  void begin(MemoryNetwork& network, std::size_t count) {
    for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
      Ints values(count);
      std::iota(values.begin(), values.end(), static_cast<std::int32_t>(rank));
      in_.push_back(std::move(values));
      out_.emplace_back(count);
    }
    for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
      const Call call{Collective::allreduce,
                      {std::as_bytes(std::span(in_[rank])).data(),
                       std::as_writable_bytes(std::span(out_[rank])).data(), count,
                       ElementType::i32, wire::handler_operator(number)},
                      0};
      network[rank].begin(call, network.now, network.now + deadline_after);
    }
  }
  // Expects the total, less one for each of the combinations.
  void expect_right() const {
    const auto ranks = static_cast<std::int32_t>(in_.size());
    for (const auto& out : out_) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        ASSERT_EQ(out[i], ranks * (ranks - 1) / 2 + ranks * index - (ranks - 1)) << i;
      }
    }
  }

  LoadedHandler loaded_{number, std::make_unique<OneLess>()};
  std::vector<Ints> in_;
  std::vector<Ints> out_;
};

TEST_F(CanaryHostHandlers, LeadersCombineWithThem) {
  MemoryNetwork network(5);
  begin(network, 1000);
  network.settle();
  expect_all_done(network);
  expect_right();
}

// The sum of ranks 1 and 2, as a switch would make it.
InFlight merged(InFlight first, InFlight second, std::uint64_t mark) {
  auto& header = first.header();
  header.counter = std::uint16_t{2};
  header.rank = wire::CanaryHeader::no_rank;
  header.fingerprint = header.fingerprint.value() + second.header().fingerprint.value() + mark;
  auto sum = first.payload();
  OneLess().combine(sum.data(), second.payload().data(), sum.size() / sizeof(std::int32_t));
  wire::seal(header, sum);
  return first;
}

// The first attempt of a single block, led by rank 0, goes through a switch with that mark.
void put_switch(MemoryNetwork& network, std::optional<InFlight>& first, std::uint64_t mark) {
  network.on_wire = [&first, mark](InFlight datagram, std::deque<InFlight>& queue) {
    const auto& header = datagram.header();
    if (header.kind != CanaryKind::contribution || wire::canary_attempt(header.id.value()) != 0) {
      queue.push_back(std::move(datagram));
    } else if (!first) {
      first = std::move(datagram);
    } else {
      queue.push_back(merged(*std::exchange(first, std::nullopt), std::move(datagram), mark));
    }
  };
}

TEST_F(CanaryHostHandlers, ASwitchWithTheSameHandlerIsBelieved) {
  MemoryNetwork network(3);
  std::optional<InFlight> first;
  put_switch(network, first, OneLess::usual_mark);
  begin(network, 16);
  network.run();
  expect_all_done(network);
  expect_right();
  EXPECT_EQ(network[0].statistics().blocks_reissued, 0u);
}

TEST_F(CanaryHostHandlers, ASwitchWithAnotherHandlerIsNot) {
  MemoryNetwork network(3);
  std::optional<InFlight> first;
  put_switch(network, first, OneLess::usual_mark + 2);
  begin(network, 16);
  network.run();
  expect_all_done(network);
  expect_right();
  EXPECT_EQ(network[0].statistics().blocks_reissued, 1u);
}

// The result is as if its leader had another handler than the rank that waits.
TEST_F(CanaryHostHandlers, AResultOfAnotherHandlerIsNotBelieved) {
  MemoryNetwork network(2);
  network.on_wire = [](InFlight datagram, std::deque<InFlight>& queue) {
    auto& header = datagram.header();
    if (header.kind == CanaryKind::result) {
      header.fingerprint = header.fingerprint.value() + 1;
      wire::seal(header, datagram.payload());
    }
    queue.push_back(std::move(datagram));
  };
  begin(network, 16);
  network.run();
  ASSERT_TRUE(network[1].failure());
  EXPECT_EQ(network[1].failure()->code, Error::Code::timeout);
  EXPECT_THAT(network[1].failure()->message, HasSubstr("different handlers under number 5"));
}

}  // namespace
}  // namespace tributary::host::test
