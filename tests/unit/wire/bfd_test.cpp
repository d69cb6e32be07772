// SPDX-License-Identifier: BSD-3-Clause
#include "wire/bfd.h"

#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

BfdHeader good() {
  BfdHeader header;
  header.state_flags = static_cast<std::uint8_t>(static_cast<unsigned>(BfdState::up) << 6);
  header.detect_multiplier = 3;
  header.my_discriminator = std::uint32_t{1};
  header.your_discriminator = std::uint32_t{2};
  return header;
}

bool accepted(const BfdHeader& header, std::size_t bytes = sizeof(BfdHeader)) {
  std::vector<std::byte> buffer(std::max(bytes, sizeof header));
  std::memcpy(buffer.data(), &header, sizeof header);
  return parse_bfd(Bytes(buffer).first(bytes)) != nullptr;
}

bool accepted_with(const std::function<void(BfdHeader&)>& change) {
  auto header = good();
  change(header);
  return accepted(header);
}

TEST(ParseBfd, TakesWhatTheStandardTakes) {
  EXPECT_TRUE(accepted(good()));
  EXPECT_TRUE(accepted(good(), 60)) << "padding behind it";
  for (const auto state : {BfdState::admin_down, BfdState::down}) {
    EXPECT_TRUE(accepted_with([&](BfdHeader& h) {
      h.your_discriminator = std::uint32_t{0};
      h.state_flags = static_cast<std::uint8_t>(static_cast<unsigned>(state) << 6);
    }));
  }
  EXPECT_TRUE(accepted_with([](BfdHeader& h) { h.state_flags |= BfdHeader::poll; }));
}

TEST(ParseBfd, RefusesWhatTheStandardRefuses) {
  for (std::size_t bytes = 0; bytes < sizeof(BfdHeader); ++bytes) {
    EXPECT_FALSE(accepted(good(), bytes));
  }
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.version_diagnostic = 0; }));
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.version_diagnostic = 2 << 5; }));
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.length = 23; }));
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.length = 25; })) << "more than there is";
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.detect_multiplier = 0; }));
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.my_discriminator = std::uint32_t{0}; }));
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.state_flags |= BfdHeader::multipoint; }));
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.state_flags |= BfdHeader::authentication; }));
  EXPECT_FALSE(accepted_with([](BfdHeader& h) { h.your_discriminator = std::uint32_t{0}; }))
      << "up, but does not know us";
}

// The packet is written by hand from the figure in RFC 5880, 4.1: Up, Poll, multiplier 3, 300 ms in
// both directions.
TEST(ParseBfd, ReadsTheFieldsWhereTheyAre) {
  constexpr std::array<std::uint8_t, 24> bytes = {0x20, 0xe0, 0x03, 0x18, 0x6a, 0x88, 0x12, 0x01,
                                                  0x1f, 0x2e, 0x3d, 0x4c, 0x00, 0x04, 0x93, 0xe0,
                                                  0x00, 0x04, 0x93, 0xe0, 0x00, 0x00, 0xc3, 0x50};
  const auto* header = parse_bfd(std::as_bytes(std::span(bytes)));
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(header->state(), BfdState::up);
  EXPECT_TRUE(header->has(BfdHeader::poll));
  EXPECT_FALSE(header->has(BfdHeader::final));
  EXPECT_EQ(header->detect_multiplier, 3);
  EXPECT_EQ(header->my_discriminator.value(), 0x6a881201u);
  EXPECT_EQ(header->your_discriminator.value(), 0x1f2e3d4cu);
  EXPECT_EQ(header->desired_min_tx_us.value(), 300'000u);
  EXPECT_EQ(header->required_min_rx_us.value(), 300'000u);
  EXPECT_EQ(header->required_min_echo_rx_us.value(), 50'000u);
}

}  // namespace
}  // namespace tributary::wire
