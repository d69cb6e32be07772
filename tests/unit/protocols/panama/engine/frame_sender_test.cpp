// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/frame_sender.h"

#include <array>

#include "fixture.h"

namespace tributary::panama {
namespace {

class FrameSenderTest : public ::testing::Test {
 protected:
  // The ports by which frames have left that are these headers and elements.
  std::vector<PortIndex> ports() {
    std::vector<PortIndex> all;
    while (auto frame = actions_.frames().pop()) {
      EXPECT_TRUE(make_whole(*frame));
      EXPECT_EQ(frame->length, sizeof headers_ + sizeof elements_);
      EXPECT_EQ(std::memcmp(frame->data(), &headers_, sizeof headers_), 0);
      EXPECT_EQ(std::memcmp(frame->data() + sizeof headers_, elements_.data(), sizeof elements_),
                0);
      EXPECT_EQ(frame->ingress, 5);
      all.push_back(frame->egress);
    }
    return all;
  }

  HeapPacketPool pool_{3, 512};
  Tree tree_{leaf_of(3, 4), self, 4};
  Headers headers_ = tree_.headers();
  std::array<std::byte, 8> elements_{std::byte{1}, std::byte{2}};
  Ledger ledger_;
  engine::Actions actions_{ledger_};
  FrameSender sender_{pool_};
};

TEST_F(FrameSenderTest, SendsByOnePortOrToNeighbours) {
  const Outgoing frame{headers_, elements_, 5};
  sender_.send(frame, 2, actions_);
  EXPECT_EQ(ports(), std::vector<PortIndex>{2});
  sender_.send(frame, tree_, {.children = 0b101, .parent = true}, actions_);
  EXPECT_EQ(ports(), (std::vector<PortIndex>{0, 2, parent_port}));
  EXPECT_EQ(ledger_.originated, 4u);
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

TEST_F(FrameSenderTest, WhatFindsNoBufferIsLost) {
  const Outgoing frame{headers_, elements_, 5};
  sender_.send(frame, tree_, {.children = 0b111, .parent = true}, actions_);
  EXPECT_EQ(ledger_.lost(DropReason::no_buffer), 1u);
  EXPECT_EQ(ports(), (std::vector<PortIndex>{0, 1, 2}));
}

}  // namespace
}  // namespace tributary::panama
