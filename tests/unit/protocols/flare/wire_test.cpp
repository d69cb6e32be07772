// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/wire.h"

#include <array>
#include <cstring>
#include <functional>
#include <set>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

// A whole packet behind UDP: three i32.
struct Packet {
  Packet() {
    FlareHeader header;
    header.job = 7;
    header.run = 0x12345678;
    header.block = 5;
    header.flags = FlareHeader::current_version;
    header.element_type = ElementType::i32;
    header.elements = 3;
    header.contributions = 1;
    header.workers = 4;
    header.window = 64;
    seal(header, Bytes(bytes).subspan(sizeof header, 12));
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  FlareHeader& header() { return *reinterpret_cast<FlareHeader*>(bytes.data()); }
  FlareError error(std::size_t length = sizeof(FlareHeader) + 12) {
    return parse_flare(MutableBytes(bytes).first(length)).error;
  }
  void change(const std::function<void(FlareHeader&)>& change) {
    change(header());
    reseal(header());
  }

  std::array<std::byte, sizeof(FlareHeader) + 16> bytes{};
};

TEST(Flare, AWholePacketIsFound) {
  Packet packet;
  const auto view = parse_flare(MutableBytes(packet.bytes).first(sizeof(FlareHeader) + 12));
  EXPECT_EQ(view.error, FlareError::none);
  EXPECT_EQ(view.payload.size(), 12u);
  EXPECT_EQ(view.header->block.value(), 5u);
  EXPECT_EQ(peek_flare_key(packet.bytes), flare_key(7, 5));
  EXPECT_EQ(peek_flare_key({}), 0u);
}

TEST(Flare, BlocksOfAJobHaveAsManyKeysAsThereAreFlows) {
  Packet packet;
  std::set<std::uint64_t> keys;
  for (std::uint64_t block = 1'000'000'000'000; block < 1'000'000'000'200; ++block) {
    packet.header().block = block;
    keys.insert(peek_flare_key(packet.bytes));
  }
  EXPECT_EQ(keys.size(), flare_flows);
}

// One core keeps a slot, whichever block is in it.
TEST(Flare, BlocksOfASlotHaveOneKey) {
  Packet packet;
  for (const std::uint32_t window : {1u, 2u, 3u, 5u, 16u, 33u, 64u, 1000u, flare_window_max}) {
    const auto slots = flare_slots(window);
    EXPECT_GE(slots, 2 * window);
    EXPECT_LT(slots, 4 * window);
    packet.header().window = static_cast<std::uint16_t>(window);
    for (std::uint64_t block = 0; block < 200; ++block) {
      packet.header().block = block;
      const auto key = peek_flare_key(packet.bytes);
      packet.header().block = block + slots;
      EXPECT_EQ(peek_flare_key(packet.bytes), key) << "block " << block << ", window " << window;
    }
  }
}

// Nothing has been checked yet when the core is chosen.
TEST(Flare, AnyWindowHasAKey) {
  Packet packet;
  packet.header().window = std::uint16_t{0};
  EXPECT_EQ(peek_flare_key(packet.bytes), flare_key(7, 0));
  packet.header().window = std::uint16_t{0xffff};
  EXPECT_EQ(peek_flare_key(packet.bytes), flare_key(7, 5));
}

TEST(Flare, LengthsHaveToFit) {
  Packet packet;
  EXPECT_EQ(packet.error(0), FlareError::truncated);
  EXPECT_EQ(packet.error(sizeof(FlareHeader) - 1), FlareError::truncated);
  EXPECT_EQ(packet.error(sizeof(FlareHeader) + 11), FlareError::truncated);
  EXPECT_EQ(packet.error(sizeof(FlareHeader) + 13), FlareError::oversized);
}

TEST(Flare, ABlockOfABarrierHasNoElements) {
  Packet packet;
  packet.header().elements = std::uint16_t{0};
  seal(packet.header(), {});
  EXPECT_EQ(packet.error(sizeof(FlareHeader)), FlareError::none);
}

TEST(Flare, InquiriesAndRefusalsHaveNoElements) {
  for (const auto kind : {FlareKind::inquiry, FlareKind::refusal}) {
    Packet packet;
    packet.header().kind = kind;
    packet.header().elements = std::uint16_t{0};
    seal(packet.header(), {});
    EXPECT_EQ(packet.error(sizeof(FlareHeader)), FlareError::none);
  }
}

TEST(Flare, ImpossibleFieldsAreRefused) {
  using Change = std::function<void(FlareHeader&)>;
  const std::pair<Change, FlareError> cases[] = {
      {[](auto& h) { h.flags = 2; }, FlareError::version},
      {[](auto& h) { h.flags |= 0x80; }, FlareError::malformed},
      {[](auto& h) { h.kind = static_cast<FlareKind>(0); }, FlareError::malformed},
      {[](auto& h) { h.kind = FlareKind::inquiry; }, FlareError::malformed},
      {[](auto& h) { h.kind = FlareKind::refusal; }, FlareError::malformed},
      {[](auto& h) { h.kind = static_cast<FlareKind>(5); }, FlareError::malformed},
      {[](auto& h) { h.element_type = static_cast<ElementType>(0xff); }, FlareError::malformed},
      {[](auto& h) { h.op = static_cast<Operator>(0xff); }, FlareError::malformed},
      {[](auto& h) { h.contributions = std::uint16_t{0}; }, FlareError::malformed},
      {[](auto& h) { h.contributions = std::uint16_t{5}; }, FlareError::malformed},
      {[](auto& h) { h.window = std::uint16_t{0}; }, FlareError::malformed},
      {[](auto& h) { h.window = static_cast<std::uint16_t>(flare_window_max + 1); },
       FlareError::malformed},
      {[](auto& h) { h.window = static_cast<std::uint16_t>(flare_window_max); }, FlareError::none},
      {[](auto& h) { h.contributions = std::uint16_t{4}; }, FlareError::none},
      {[](auto& h) { h.kind = FlareKind::result; }, FlareError::none},
      {[](auto& h) { h.flags |= FlareHeader::retransmission_bit | FlareHeader::answer_bit; },
       FlareError::none},
  };
  for (const auto& [change, error] : cases) {
    Packet packet;
    packet.change(change);
    EXPECT_EQ(packet.error(), error);
  }
}

TEST(Flare, EveryByteIsCovered) {
  for (std::size_t at = 0; at < sizeof(FlareHeader) + 12; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Packet packet;
      packet.bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_NE(packet.error(), FlareError::none) << at;
    }
  }
}

TEST(Flare, AnAnswerAsksNobody) {
  FlareHeader header;
  EXPECT_FALSE(header.asks());
  header.flags = FlareHeader::retransmission_bit;
  EXPECT_TRUE(header.asks());
  header.flags |= FlareHeader::answer_bit;
  EXPECT_FALSE(header.asks());
  EXPECT_TRUE(header.answers());
}

}  // namespace
}  // namespace tributary::wire
