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
