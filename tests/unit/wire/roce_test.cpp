// SPDX-License-Identifier: BSD-3-Clause
#include "wire/roce.h"

#include <array>
#include <cstring>
#include <string_view>
#include <vector>
#include <zlib.h>

#include <gtest/gtest.h>

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace tributary::wire {
namespace {

// Frames of Linux's Soft-RoCE (Debian's 6.1), captured on the line between two guests: an
// acknowledgement, and the last packet of an RDMA WRITE of 2,500 bytes.
constexpr std::string_view captured_ack =
    "02540a00000202540a000001080045000030c2144000401164a60a0000010a000002c12112b7001c00001100"
    "ffff00000011008f98e81f00000165adbb47";
constexpr std::string_view captured_write_last =
    "02540a00000102540a0000020800450001f045bf40004011df3b0a0000020a000001c12112b701dc00000800"
    "ffff00000011808f98e845e39a263826b43d2faccea65c3047da2afdb9379f8220ed7374ba96268bad6b6f47"
    "91a76d46e49df2b3434fe38a290d87e24426656514d8d9ce6eff5a1c6bc963fc70d142546e3507b184ea3bad"
    "f7c2903ce9f5a1fdcd7acb3b7a2557e5eebbe15e8c24b3fa59baabdda5e68a9ca81ad8910f798edcf45a186e"
    "7f6f536e2a34ccb6587fb0b13a5b8edf41197bea33547b43cd0a1fc164372fe3a78251d1b71e880f9d38c1d7"
    "944fb6d56832bf9c863bdf5345fe15a936448cddc7deae7efc368d996f4e71039e27d8065998a2dfd3813318"
    "8048c1b68c4d93532b41d127785fc1e7ad32ea4b59c252b35af4922d76c545f60d06ac9a543fed7f80bfa7f8"
    "1e68dfcb9ac917f38c69a6e65d3914d3fe59c90c6075a6b4b493333552da2d70420d3cdcd653d062bc764919"
    "af5dedaeb6b6ba162c60cae0f3fe1546d843b61b50f2f72645c789013ed21bed2f089be5be55fceab5c6cba9"
    "c4e0ef9d23a5b87398af9add7723dfb5f5faa224023e09c09305ab49cc76f29056e12d7a86e5ed1e9587fc0c"
    "aadbc19fd563c3d7a1cd9735d2427e9eb8702f0f515c89d74276f6d7fef2e3a8cda448a2070b79a9d810deab"
    "535c490bcc781a1dd5a3f4171aeaee18dcd1c0a975084219cb99";

std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

constexpr std::size_t udp_at = sizeof(EthernetHeader) + sizeof(Ipv4Header);
constexpr std::size_t bth_at = udp_at + sizeof(UdpHeader);

// Returns the ICRC that an IPv4 frame must have.
std::uint32_t icrc_of_frame(Bytes frame) {
  UdpHeader udp;
  std::memcpy(&udp, frame.data() + udp_at, sizeof udp);
  return icrc_of(frame.subspan(sizeof(EthernetHeader), sizeof(Ipv4Header)), udp,
                 frame.subspan(bth_at).first(frame.size() - bth_at - icrc_bytes));
}

// The result is the same where the headers lie one behind the other, as they were received.
TEST(RoceIcrc, is_the_same_in_place) {
  auto frame = bytes_of(captured_write_last);
  const auto icrc = load_icrc(frame.data() + frame.size() - icrc_bytes);
  const auto& udp = *reinterpret_cast<const UdpHeader*>(frame.data() + udp_at);
  const auto in_place = [&] {
    return icrc_of(Bytes(frame).subspan(sizeof(EthernetHeader), sizeof(Ipv4Header)), udp,
                   Bytes(frame).subspan(bth_at).first(frame.size() - bth_at - icrc_bytes));
  };
  EXPECT_EQ(in_place(), icrc);
  for (std::size_t at = sizeof(EthernetHeader) + 1; at < bth_at + sizeof(BthHeader); ++at) {
    frame[at] ^= std::byte{0x55};
    EXPECT_EQ(in_place(), icrc_of_frame(frame)) << at;
    frame[at] ^= std::byte{0x55};
  }
}

TEST(RoceIcrc, is_that_of_captured_frames) {
  for (const auto hex : {captured_ack, captured_write_last}) {
    const auto frame = bytes_of(hex);
    EXPECT_EQ(icrc_of_frame(frame), load_icrc(frame.data() + frame.size() - icrc_bytes));
  }
}

TEST(RoceIcrc, does_not_cover_what_routers_change) {
  auto frame = bytes_of(captured_write_last);
  const auto before = icrc_of_frame(frame);
  for (const auto at : {sizeof(EthernetHeader) + 1, sizeof(EthernetHeader) + 8,
                        sizeof(EthernetHeader) + 10, udp_at + 6, bth_at + 4}) {
    frame[at] ^= std::byte{0x5a};
  }
  EXPECT_EQ(icrc_of_frame(frame), before);
}

TEST(RoceIcrc, covers_everything_else) {
  const auto frame = bytes_of(captured_ack);
  const auto before = icrc_of_frame(frame);
  for (std::size_t at = sizeof(EthernetHeader); at < frame.size() - icrc_bytes; ++at) {
    const auto in_ip = at - sizeof(EthernetHeader);
    const bool masked = in_ip == 0 || in_ip == 1 || in_ip == 8 || in_ip == 10 || in_ip == 11 ||
                        at == udp_at + 6 || at == udp_at + 7 || at == bth_at + 4;
    auto damaged = frame;
    damaged[at] ^= std::byte{1};
    if (!masked) {
      EXPECT_NE(icrc_of_frame(damaged), before) << "byte " << at;
    }
  }
}

// This computes the rule of the kernel (rxe_icrc.c) once more, with zlib.
TEST(RoceIcrc, of_ipv6_masks_class_flow_and_hop_limit) {
  Ipv6Header ip;
  ip.version_class_flow = {0x61, 0x23, 0x45, 0x67};
  ip.payload_length = std::uint16_t{44};
  ip.next_header = 17;
  ip.source.fill(0xfe);
  ip.destination.fill(0xfd);
  UdpHeader udp;
  udp.source_port = std::uint16_t{0xc000};
  udp.destination_port = roce_udp_port;
  udp.length = std::uint16_t{44};
  std::vector<std::byte> transport(32);
  for (std::size_t i = 0; i < transport.size(); ++i) {
    transport[i] = static_cast<std::byte>(i * 3);
  }
  std::vector<unsigned char> covered(8, 0xff);
  const auto add = [&covered](const void* from, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(from);
    covered.insert(covered.end(), at, at + bytes);
  };
  add(&ip, sizeof ip);
  add(&udp, sizeof udp);
  add(transport.data(), transport.size());
  covered[8] = 0x6f;
  covered[9] = covered[10] = covered[11] = 0xff;
  covered[8 + 7] = 0xff;                             // hop limit
  covered[8 + 40 + 6] = covered[8 + 40 + 7] = 0xff;  // UDP checksum
  covered[8 + 40 + 8 + 4] = 0xff;                    // congestion bits
  EXPECT_EQ(icrc_of(std::as_bytes(std::span(&ip, 1)), udp, transport),
            ::crc32(::crc32(0, nullptr, 0), covered.data(), static_cast<uInt>(covered.size())));
}

TEST(RoceView, finds_the_headers_of_a_captured_write) {
  auto frame = bytes_of(captured_write_last);
  const auto view = parse_roce(MutableBytes(frame).subspan(bth_at));
  ASSERT_NE(view.bth, nullptr);
  EXPECT_EQ(view.position(), RocePosition::last);
  EXPECT_EQ(view.bth->destination_qp.value(), 0x11u);
  EXPECT_EQ(view.bth->psn.value(), 0x8f98e8u);
  EXPECT_EQ(view.bth->acknowledge & BthHeader::acknowledge_bit, BthHeader::acknowledge_bit);
  EXPECT_EQ(view.payload.size(), 2500u - 2 * 1024);
  EXPECT_EQ(view.reth, nullptr);
}

TEST(RoceView, leaves_acknowledgements_alone) {
  auto frame = bytes_of(captured_ack);
  EXPECT_EQ(parse_roce(MutableBytes(frame).subspan(bth_at)).bth, nullptr);
}

struct Shape {
  RoceOpcode opcode;
  RocePosition position;
  std::size_t headers;
};

class RoceOpcodes : public testing::TestWithParam<Shape> {};

TEST_P(RoceOpcodes, tell_the_headers_and_the_place_in_the_message) {
  const auto [opcode, position, headers] = GetParam();
  for (std::size_t bytes = 0; bytes < 64; ++bytes) {
    std::vector<std::byte> packet(bytes);
    if (bytes > 0) {
      packet[0] = static_cast<std::byte>(opcode);
    }
    const auto view = parse_roce(packet);
    const bool whole = bytes >= headers + icrc_bytes;
    ASSERT_EQ(view.bth != nullptr, whole) << bytes;
    if (whole) {
      EXPECT_EQ(view.position(), position);
      EXPECT_EQ(view.payload.size(), bytes - headers - icrc_bytes);
      EXPECT_EQ(view.payload.data(), packet.data() + headers);
      EXPECT_EQ(view.icrc, packet.data() + bytes - icrc_bytes);
      EXPECT_EQ(view.reth != nullptr, has_reth(opcode));
      EXPECT_EQ(view.immediate != nullptr, has_immediate(opcode));
    }
  }
}
using enum RoceOpcode;
INSTANTIATE_TEST_SUITE_P(All, RoceOpcodes,
                         testing::Values(Shape{send_first, RocePosition::first, 12},
                                         Shape{send_middle, RocePosition::middle, 12},
                                         Shape{send_last, RocePosition::last, 12},
                                         Shape{send_last_immediate, RocePosition::last, 16},
                                         Shape{send_only, RocePosition::only, 12},
                                         Shape{send_only_immediate, RocePosition::only, 16},
                                         Shape{write_first, RocePosition::first, 28},
                                         Shape{write_middle, RocePosition::middle, 12},
                                         Shape{write_last, RocePosition::last, 12},
                                         Shape{write_last_immediate, RocePosition::last, 16},
                                         Shape{write_only, RocePosition::only, 28},
                                         Shape{write_only_immediate, RocePosition::only, 32}));

TEST(RoceView, needs_room_for_the_pad) {
  std::vector<std::byte> packet(sizeof(BthHeader) + icrc_bytes + 2);
  packet[0] = static_cast<std::byte>(RoceOpcode::send_only);
  packet[1] = std::byte{2 << 4};
  EXPECT_EQ(parse_roce(packet).payload.size(), 0u);
  EXPECT_NE(parse_roce(packet).bth, nullptr);
  packet[1] = std::byte{3 << 4};
  EXPECT_EQ(parse_roce(packet).bth, nullptr);
}

TEST(RoceView, knows_one_version) {
  std::vector<std::byte> packet(64);
  packet[1] = std::byte{1};
  EXPECT_EQ(parse_roce(packet).bth, nullptr);
}

TEST(RoceView, is_of_reliable_connections_only) {
  std::vector<std::byte> packet(64);
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    packet[0] = static_cast<std::byte>(opcode);
    EXPECT_EQ(parse_roce(packet).bth != nullptr, opcode <= 0x0b) << opcode;
  }
}

TEST(Psn, counts_modulo_two_to_the_24) {
  EXPECT_EQ(psn_add(0xfffffe, 3), 1u);
  EXPECT_EQ(psn_distance(0xfffffe, 1), 3u);
  EXPECT_EQ(psn_distance(1, 0xfffffe), 0xfffffdu);
  be24 psn;
  psn = 0xfffffe;
  EXPECT_EQ(psn.value(), 0xfffffeu);
}

}  // namespace
}  // namespace tributary::wire
