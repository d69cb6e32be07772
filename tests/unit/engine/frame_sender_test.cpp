// SPDX-License-Identifier: BSD-3-Clause
#include "engine/frame_sender.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "packet/fate.h"
#include "packet/pool.h"

namespace tributary::engine {
namespace {

class FrameSenderTest : public ::testing::Test {
 protected:
  // Returns the ports by which frames with these headers and elements have left.
  std::vector<PortIndex> ports() {
    std::vector<PortIndex> all;
    while (auto frame = actions_.frames().pop()) {
      EXPECT_TRUE(make_whole(*frame));
      EXPECT_EQ(frame->length, sizeof headers_ + sizeof elements_);
      EXPECT_EQ(std::memcmp(frame->data(), headers_.data(), sizeof headers_), 0);
      EXPECT_EQ(std::memcmp(frame->data() + sizeof headers_, elements_.data(), sizeof elements_),
                0);
      EXPECT_EQ(frame->ingress, 5);
      all.push_back(frame->egress);
    }
    return all;
  }

  HeapPacketPool pool_{3, 512};
  std::array<std::byte, 90> headers_{std::byte{9}, std::byte{8}};
  std::array<std::byte, 8> elements_{std::byte{1}, std::byte{2}};
  Ledger ledger_;
  Actions actions_{ledger_};
  FrameSender sender_{pool_};
};

TEST_F(FrameSenderTest, SendsByOnePortOrBySomeOfTheChildrens) {
  const Outgoing frame{headers_, elements_, 5, false};
  sender_.send(frame, 2, actions_);
  EXPECT_EQ(ports(), std::vector<PortIndex>{2});
  sender_.send(frame, {4, 3, 6}, 0b101, actions_);
  EXPECT_EQ(ports(), (std::vector<PortIndex>{4, 6}));
  EXPECT_EQ(ledger_.originated, 3u);
}

TEST_F(FrameSenderTest, SharedElementsAreNotCopied) {
  auto packet = pool_.allocate();
  std::memcpy(packet->data(), elements_.data(), sizeof elements_);
  packet->length = sizeof elements_;
  packet->ingress = 5;
  auto& body = *packet.release();
  pool_.share(body, 2);
  sender_.send_sharing(body, headers_, 0, actions_);
  sender_.send_sharing(body, headers_, 1, actions_);
  EXPECT_EQ(ports(), (std::vector<PortIndex>{0, 1}));
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(FrameSenderTest, TheVersionOfIpIsThatOfTheCause) {
  for (const bool over_ipv6 : {true, false}) {
    sender_.send({headers_, elements_, 5, over_ipv6}, 2, actions_);
    EXPECT_EQ(actions_.frames().pop()->over_ipv6, over_ipv6);
  }
}

TEST_F(FrameSenderTest, WhatFindsNoBufferIsLost) {
  const Outgoing frame{headers_, elements_, 5, false};
  sender_.send(frame, {0, 1, 2, 3}, 0b1111, actions_);
  EXPECT_EQ(ledger_.lost(DropReason::no_buffer), 1u);
  EXPECT_EQ(ports(), (std::vector<PortIndex>{0, 1, 2}));
}

}  // namespace
}  // namespace tributary::engine
