// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/wire.h"

#include <array>
#include <cstring>
#include <functional>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

// A whole packet behind UDP: three i32.
struct Packet {
  Packet() {
    PanamaHeader header;
    header.job = 7;
    header.tree = 2;
    header.vid = 5;
    header.flags = PanamaHeader::current_version;
    header.element_type = ElementType::i32;
    header.elements = 3;
    header.contributions = 1;
    header.workers = 4;
    seal(header, Bytes(bytes).subspan(sizeof header, 12));
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  PanamaHeader& header() { return *reinterpret_cast<PanamaHeader*>(bytes.data()); }
  PanamaError error(std::size_t length = sizeof(PanamaHeader) + 12) {
    return parse_panama(MutableBytes(bytes).first(length)).error;
  }
  void change(const std::function<void(PanamaHeader&)>& change) {
    change(header());
    reseal(header());
  }

  std::array<std::byte, sizeof(PanamaHeader) + 16> bytes{};
};

TEST(Panama, AWholePacketIsFound) {
  Packet packet;
  const auto view = parse_panama(MutableBytes(packet.bytes).first(sizeof(PanamaHeader) + 12));
  EXPECT_EQ(view.error, PanamaError::none);
  EXPECT_EQ(view.payload.size(), 12u);
  EXPECT_EQ(view.header->vid.value(), 5u);
  EXPECT_EQ(peek_panama_key(packet.bytes), panama_key(7, 2));
  EXPECT_EQ(peek_panama_key({}), 0u);
}

TEST(Panama, LengthsHaveToFit) {
  Packet packet;
  EXPECT_EQ(packet.error(0), PanamaError::truncated);
  EXPECT_EQ(packet.error(sizeof(PanamaHeader) - 1), PanamaError::truncated);
  EXPECT_EQ(packet.error(sizeof(PanamaHeader) + 11), PanamaError::truncated);
  EXPECT_EQ(packet.error(sizeof(PanamaHeader) + 13), PanamaError::oversized);
}

// A whole packet with a mask of 70 ranks behind three i32.
struct MaskedPacket {
  static constexpr std::size_t elements_bytes = 12;

  explicit MaskedPacket(std::initializer_list<std::uint32_t> ranks, std::uint16_t contributions) {
    PanamaHeader header;
    header.job = 7;
    header.flags = PanamaHeader::current_version | PanamaHeader::mask_bit;
    header.element_type = ElementType::i32;
    header.elements = 3;
    header.contributions = contributions;
    header.workers = 70;
    const auto payload = MutableBytes(bytes).subspan(sizeof header);
    for (const auto rank : ranks) {
      set_rank(payload.subspan(elements_bytes), rank, true);
    }
    seal(header, payload);
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  PanamaView parse() { return parse_panama(bytes); }
  PanamaHeader& header() { return *reinterpret_cast<PanamaHeader*>(bytes.data()); }

  std::array<std::byte, sizeof(PanamaHeader) + elements_bytes + 16> bytes{};
};

TEST(Panama, AMaskIsBehindTheElements) {
  MaskedPacket packet({0, 69}, 2);
  const auto view = packet.parse();
  ASSERT_EQ(view.error, PanamaError::none);
  EXPECT_EQ(view.payload.size(), 12u);
  EXPECT_EQ(view.mask.bytes().data(), view.payload.data() + 12);
  EXPECT_TRUE(view.mask.has(69));
  EXPECT_EQ(view.mask.count(), 2u);
}

TEST(Panama, AMaskOfOthersThanTheContributionsIsRefused) {
  EXPECT_EQ(MaskedPacket({0, 69}, 3).parse().error, PanamaError::malformed);
  EXPECT_EQ(MaskedPacket({0}, 2).parse().error, PanamaError::malformed);
  const auto beyond = MaskedPacket({70}, 1).parse();
  EXPECT_EQ(beyond.error, PanamaError::malformed) << "there is no such rank";
  EXPECT_TRUE(beyond.payload.empty());
}

TEST(Panama, NoMaskIsOfMoreRanksThanAPacketHasRoomForNorInAnInquiry) {
  MaskedPacket packet({0}, 1);
  packet.header().workers = std::uint16_t{panama_masked_ranks_max + 1};
  reseal(packet.header());
  EXPECT_EQ(packet.parse().error, PanamaError::malformed);
  packet.header().workers = std::uint16_t{panama_masked_ranks_max};
  reseal(packet.header());
  EXPECT_EQ(packet.parse().error, PanamaError::truncated);
  MaskedPacket inquiry({0}, 1);
  inquiry.header().kind = PanamaKind::inquiry;
  inquiry.header().elements = std::uint16_t{0};
  reseal(inquiry.header());
  EXPECT_EQ(inquiry.parse().error, PanamaError::malformed);
}

TEST(Panama, ImpossibleFieldsAreRefused) {
  using Change = std::function<void(PanamaHeader&)>;
  const std::pair<Change, PanamaError> cases[] = {
      {[](auto& h) { h.flags = 1; }, PanamaError::version},
      {[](auto& h) { h.kind = static_cast<PanamaKind>(0); }, PanamaError::malformed},
      {[](auto& h) { h.kind = static_cast<PanamaKind>(3); }, PanamaError::malformed},
      {[](auto& h) { h.element_type = static_cast<ElementType>(wire::element_type_count); },
       PanamaError::malformed},
      {[](auto& h) { h.op = static_cast<Operator>(wire::operator_count); }, PanamaError::malformed},
      {[](auto& h) { h.op = wire::handler_operator(0); }, PanamaError::malformed},
      {[](auto& h) { h.contributions = std::uint16_t{0}; }, PanamaError::malformed},
      {[](auto& h) { h.contributions = std::uint16_t{5}; }, PanamaError::malformed},
      {[](auto& h) { h.contributions = std::uint16_t{4}; }, PanamaError::none},
      {[](auto& h) { h.flags |= PanamaHeader::fin_bit; }, PanamaError::none},
  };
  for (const auto& [change, error] : cases) {
    Packet packet;
    packet.change(change);
    EXPECT_EQ(packet.error(), error);
  }
}

TEST(Panama, EveryByteIsCovered) {
  for (std::size_t at = 0; at < sizeof(PanamaHeader) + 12; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Packet packet;
      packet.bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_NE(packet.error(), PanamaError::none) << at;
    }
  }
}

}  // namespace
}  // namespace tributary::wire
