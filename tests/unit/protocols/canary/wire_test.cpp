// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/wire.h"

#include <cstddef>
#include <cstring>
#include <functional>
#include <set>
#include <vector>
#include <zlib.h>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

constexpr std::uint16_t hosts = 4;

CanaryHeader contribution() {
  CanaryHeader header;
  header.destination = Ipv4Address(10, 1, 1, 2);
  header.id = 7;
  header.counter = 1;
  header.hosts = hosts;
  header.flags = CanaryHeader::current_version;
  header.job = 0x1234;
  header.elements = 6;
  header.child_port = 17001;
  header.fingerprint = 0x0102030405060708ULL;
  header.child_address = Ipv4Address(10, 1, 2, 2);
  header.rank = 2;
  return header;
}

CanaryHeader downwards(CanaryKind kind) {
  auto header = contribution();
  header.kind = kind;
  header.flags = CanaryHeader::multicast_bit | CanaryHeader::current_version;
  header.counter = hosts;
  return header;
}

// Returns the packet as it is sent: as many payload bytes as the header says, sealed.
std::vector<std::byte> packet_of(CanaryHeader header) {
  const std::size_t payload_bytes =
      static_cast<std::size_t>(header.element_type) < element_type_count
          ? header.elements.value() * element_bytes(header.element_type)
          : 0;
  std::vector<std::byte> bytes(sizeof header + payload_bytes);
  for (std::size_t i = sizeof header; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7);
  }
  seal(header, Bytes(bytes).subspan(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

CanaryError error_of(std::vector<std::byte> bytes, Encapsulation how = Encapsulation::udp) {
  const auto view = parse_canary(bytes, how);
  EXPECT_EQ(view.header != nullptr, bytes.size() >= sizeof(CanaryHeader));
  if (view.error != CanaryError::none) {
    EXPECT_TRUE(view.payload.empty());
  }
  return view.error;
}

CanaryError error_of(const CanaryHeader& header) {
  return error_of(packet_of(header));
}

TEST(CanaryHeader, fields_lie_where_the_paper_and_the_extension_put_them) {
  EXPECT_EQ(offsetof(CanaryHeader, destination), 0U);
  EXPECT_EQ(offsetof(CanaryHeader, id), 4U);
  EXPECT_EQ(offsetof(CanaryHeader, counter), 8U);
  EXPECT_EQ(offsetof(CanaryHeader, hosts), 10U);
  EXPECT_EQ(offsetof(CanaryHeader, children), 12U);
  EXPECT_EQ(offsetof(CanaryHeader, switch_address), 16U);
  EXPECT_EQ(offsetof(CanaryHeader, flags), 18U);
  EXPECT_EQ(offsetof(CanaryHeader, kind), 19U);
  EXPECT_EQ(offsetof(CanaryHeader, element_type), 20U);
  EXPECT_EQ(offsetof(CanaryHeader, op), 21U);
  EXPECT_EQ(offsetof(CanaryHeader, unused), 22U);
  EXPECT_EQ(offsetof(CanaryHeader, shard), 23U);
  EXPECT_EQ(offsetof(CanaryHeader, job), 24U);
  EXPECT_EQ(offsetof(CanaryHeader, elements), 28U);
  EXPECT_EQ(offsetof(CanaryHeader, child_port), 30U);
  EXPECT_EQ(offsetof(CanaryHeader, fingerprint), 32U);
  EXPECT_EQ(offsetof(CanaryHeader, child_address), 40U);
  EXPECT_EQ(offsetof(CanaryHeader, switch_ipv4), 44U);
  EXPECT_EQ(offsetof(CanaryHeader, child_mac), 48U);
  EXPECT_EQ(offsetof(CanaryHeader, rank), 54U);
  EXPECT_EQ(offsetof(CanaryHeader, payload_crc), 56U);
  EXPECT_EQ(offsetof(CanaryHeader, crc), 60U);
}

// Returns the header of a request, failure, pending or release.
CanaryHeader control(CanaryKind kind) {
  auto header = contribution();
  header.kind = kind;
  header.counter = 0;
  header.elements = 0;
  if (kind == CanaryKind::release) {
    header.flags |= CanaryHeader::multicast_bit;
  }
  return header;
}

constexpr CanaryKind headers_only[] = {CanaryKind::request, CanaryKind::failure,
                                       CanaryKind::release};

TEST(CanaryId, is_attempt_and_sequence) {
  EXPECT_EQ(canary_id(7, 0), 7U);
  EXPECT_EQ(canary_id(7, canary_direct_attempt), 0xf0000007U);
  EXPECT_EQ(canary_id(0x10000007, 1), 0x10000007U) << "sequence numbers wrap";
  EXPECT_EQ(canary_sequence(0xf0000007U), 7U);
  EXPECT_EQ(canary_attempt(0xf0000007U), canary_direct_attempt);
}

TEST(ParseCanary, control_messages_say_nothing_but_their_header) {
  for (const auto kind : headers_only) {
    auto counting = control(kind);
    counting.counter = 1;
    EXPECT_EQ(error_of(counting), CanaryError::malformed);
    auto lonely = control(kind);
    lonely.hosts = 1;
    EXPECT_EQ(error_of(lonely), CanaryError::malformed);
    auto long_one = control(kind);
    long_one.elements = 1;
    EXPECT_EQ(error_of(long_one), CanaryError::malformed);
    auto misdirected = control(kind);
    misdirected.flags ^= CanaryHeader::multicast_bit;
    EXPECT_EQ(error_of(misdirected), CanaryError::malformed);
  }
}

TEST(ParseCanary, pending_lists_ranks_and_misses_some) {
  auto header = control(CanaryKind::pending);
  header.element_type = ElementType::i16;
  header.elements = 3;
  for (const unsigned counter : {0U, 3U, 4U}) {
    header.counter = static_cast<std::uint16_t>(counter);
    EXPECT_EQ(error_of(header), counter < hosts ? CanaryError::none : CanaryError::malformed);
  }
}

TEST(ParseCanary, accepts_each_kind_over_both_encapsulations) {
  for (const auto& header :
       {contribution(), downwards(CanaryKind::result), downwards(CanaryKind::restoration),
        control(CanaryKind::request), control(CanaryKind::failure), control(CanaryKind::pending),
        control(CanaryKind::release)}) {
    EXPECT_EQ(error_of(packet_of(header), Encapsulation::udp), CanaryError::none);
    EXPECT_EQ(error_of(packet_of(header), Encapsulation::ethernet), CanaryError::none);
  }
}

TEST(ParseCanary, view_points_into_the_packet) {
  auto bytes = packet_of(contribution());
  const auto view = parse_canary(bytes, Encapsulation::udp);
  ASSERT_EQ(view.error, CanaryError::none);
  EXPECT_EQ(reinterpret_cast<std::byte*>(view.header), bytes.data());
  EXPECT_EQ(view.payload.data(), bytes.data() + 64);
  EXPECT_EQ(view.payload.size(), 24U);
  EXPECT_EQ(view.header->key(), 0x0000123400000007ULL);
}

TEST(ParseCanary, every_shorter_length_is_truncated) {
  const auto bytes = packet_of(contribution());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::vector<std::byte> shorter(bytes.begin(), bytes.begin() + static_cast<long>(length));
    EXPECT_EQ(error_of(shorter, Encapsulation::udp), CanaryError::truncated) << length;
    EXPECT_EQ(error_of(shorter, Encapsulation::ethernet), CanaryError::truncated) << length;
  }
}

TEST(ParseCanary, every_longer_length_is_oversized_but_padding_over_ethernet) {
  auto bytes = packet_of(contribution());
  for (int extra = 1; extra <= 64; ++extra) {
    bytes.push_back(std::byte{0xff});
    EXPECT_EQ(error_of(bytes, Encapsulation::udp), CanaryError::oversized);
    const auto view = parse_canary(bytes, Encapsulation::ethernet);
    EXPECT_EQ(view.error, CanaryError::none);
    EXPECT_EQ(view.payload.size(), 24U);
  }
}

TEST(ParseCanary, element_count_and_payload_decide_the_length) {
  for (std::size_t type = 0; type < element_type_count; ++type) {
    auto header = contribution();
    header.element_type = static_cast<ElementType>(type);
    header.op = any_operator(header.element_type);
    for (const unsigned elements : {0U, 1U, 2U, 357U, 1000U}) {
      header.elements = static_cast<std::uint16_t>(elements);
      EXPECT_EQ(error_of(header), CanaryError::none);
    }
    header.elements = 0xffff;
    auto bytes = packet_of(header);
    EXPECT_EQ(error_of(bytes), CanaryError::none);
    bytes.resize(9000);
    EXPECT_EQ(error_of(bytes), CanaryError::truncated);
  }
}

TEST(ParseCanary, only_the_current_version) {
  for (unsigned version = 0; version <= CanaryHeader::version_mask; ++version) {
    auto header = contribution();
    header.flags = static_cast<std::uint8_t>(version);
    EXPECT_EQ(error_of(header),
              version == CanaryHeader::current_version ? CanaryError::none : CanaryError::version);
  }
}

TEST(ParseCanary, packets_up_and_down_can_tell_of_congestion) {
  auto request = contribution();
  request.kind = CanaryKind::request;
  request.counter = 0;
  request.elements = 0;
  for (auto header : {contribution(), downwards(CanaryKind::result),
                      downwards(CanaryKind::restoration), request}) {
    EXPECT_FALSE(header.congested());
    header.flags |= CanaryHeader::congested_bit;
    EXPECT_EQ(error_of(header), CanaryError::none);
    EXPECT_EQ(header.version(), CanaryHeader::current_version);
    EXPECT_TRUE(header.congested());
  }
}

TEST(ParseCanary, kinds_need_their_multicast_bit) {
  for (unsigned kind = 0; kind < 256; ++kind) {
    for (const std::uint8_t multicast : {std::uint8_t{0}, CanaryHeader::multicast_bit}) {
      auto header = contribution();
      header.kind = static_cast<CanaryKind>(kind);
      header.flags = static_cast<std::uint8_t>(multicast | CanaryHeader::current_version);
      header.counter = kind == 1 ? 1 : hosts;
      const bool fits = kind == 1 ? multicast == 0 : (kind <= 3 && kind != 0 && multicast != 0);
      EXPECT_EQ(error_of(header), fits ? CanaryError::none : CanaryError::malformed) << kind;
    }
  }
}

TEST(ParseCanary, only_valid_pairs_of_type_and_operator) {
  for (unsigned type = 0; type < 256; ++type) {
    for (unsigned op = 0; op < 256; ++op) {
      auto header = contribution();
      header.element_type = static_cast<ElementType>(type);
      header.op = static_cast<Operator>(op);
      header.elements = 0;
      const bool valid = is_valid(header.element_type, header.op);
      ASSERT_EQ(error_of(header), valid ? CanaryError::none : CanaryError::malformed)
          << type << ' ' << op;
    }
  }
}

TEST(ParseCanary, counter_of_a_contribution_is_below_hosts) {
  for (const unsigned counter : {0U, 1U, 3U, 4U, 5U, 0xfffeU, 0xffffU}) {
    auto header = contribution();
    header.counter = static_cast<std::uint16_t>(counter);
    const bool possible = counter >= 1 && counter < hosts;
    EXPECT_EQ(error_of(header), possible ? CanaryError::none : CanaryError::malformed) << counter;
  }
  auto header = contribution();
  header.hosts = 0xffff;
  header.counter = 0xfffe;
  EXPECT_EQ(error_of(header), CanaryError::none);
  for (const std::uint16_t few : {std::uint16_t{0}, std::uint16_t{1}}) {
    header.hosts = few;
    header.counter = few;
    EXPECT_EQ(error_of(header), CanaryError::malformed);
  }
}

TEST(ParseCanary, counter_of_a_result_equals_hosts) {
  for (const auto kind : {CanaryKind::result, CanaryKind::restoration}) {
    for (const unsigned counter : {0U, 1U, 3U, 5U, 0xffffU}) {
      auto header = downwards(kind);
      header.counter = static_cast<std::uint16_t>(counter);
      EXPECT_EQ(error_of(header), CanaryError::malformed);
    }
    for (const unsigned all : {0U, 1U, 2U, 0xffffU}) {
      auto header = downwards(kind);
      header.counter = static_cast<std::uint16_t>(all);
      header.hosts = static_cast<std::uint16_t>(all);
      EXPECT_EQ(error_of(header), all >= 2 ? CanaryError::none : CanaryError::malformed) << all;
    }
  }
}

TEST(ParseCanary, any_unused_bit_is_refused) {
  for (unsigned bit = 0; bit < 8; ++bit) {
    auto header = contribution();
    header.unused = static_cast<std::uint8_t>(1U << bit);
    EXPECT_EQ(error_of(header), CanaryError::malformed);
  }
}

// Fields that the parser does not interpret may hold anything.
TEST(ParseCanary, free_fields_at_zero_and_maximum) {
  for (const bool maximum : {false, true}) {
    const std::uint32_t fill = maximum ? 0xffffffffU : 0U;
    const std::vector<std::function<void(CanaryHeader&)>> settings = {
        [=](CanaryHeader& h) { h.destination = Ipv4Address(fill); },
        [=](CanaryHeader& h) { h.id = fill; },
        [=](CanaryHeader& h) { h.children = fill; },
        [=](CanaryHeader& h) { h.switch_address = static_cast<std::uint16_t>(fill); },
        [=](CanaryHeader& h) { h.flags = maximum ? h.flags | CanaryHeader::bypass_bit : h.flags; },
        [=](CanaryHeader& h) {
          h.flags = maximum ? h.flags | CanaryHeader::congested_bit : h.flags;
        },
        [=](CanaryHeader& h) { h.shard = static_cast<std::uint8_t>(fill); },
        [=](CanaryHeader& h) { h.job = fill; },
        [=](CanaryHeader& h) { h.child_port = static_cast<std::uint16_t>(fill); },
        [=](CanaryHeader& h) { h.fingerprint = std::uint64_t{fill} << 32 | fill; },
        [=](CanaryHeader& h) { h.child_address = Ipv4Address(fill); },
        [=](CanaryHeader& h) { h.switch_ipv4 = Ipv4Address(fill); },
        [=](CanaryHeader& h) { h.child_mac.octets.fill(static_cast<std::uint8_t>(fill)); },
        [=](CanaryHeader& h) { h.rank = static_cast<std::uint16_t>(fill); },
    };
    for (std::size_t i = 0; i < settings.size(); ++i) {
      auto header = contribution();
      settings[i](header);
      EXPECT_EQ(error_of(header), CanaryError::none) << i;
    }
  }
}

TEST(ParseCanary, crcs_are_zlibs_over_payload_and_60_bytes) {
  const auto bytes = packet_of(contribution());
  const auto* raw = reinterpret_cast<const Bytef*>(bytes.data());
  std::array<be32, 2> stored;
  std::memcpy(stored.data(), bytes.data() + 56, sizeof stored);
  EXPECT_EQ(stored[0].value(), ::crc32(0, raw + 64, static_cast<uInt>(bytes.size() - 64)));
  EXPECT_EQ(stored[1].value(), ::crc32(0, raw, 60));
}

TEST(ParseCanary, a_flip_of_any_bit_is_noticed) {
  const auto bytes = packet_of(contribution());
  std::set<CanaryError> seen;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto error = error_of(damaged);
    EXPECT_NE(error, CanaryError::none) << "bit " << bit;
    const std::size_t at = bit / 8;
    if (at < 8 || at >= sizeof(CanaryHeader) - 4) {
      EXPECT_EQ(error, CanaryError::crc) << "bit " << bit;
    }
    seen.insert(error);
  }
  EXPECT_EQ(seen.size(), 5U) << "every error but none";
}

TEST(AddressToChild, leaves_a_sealed_header) {
  auto header = contribution();
  header.destination = Ipv4Address{};
  header.child_address = Ipv4Address{};
  header.child_port = 0;
  reseal(header);
  for (const std::uint32_t address : {0x00000000u, 0x0a010203u, 0x80ff7f01u, 0xffffffffu}) {
    for (const std::uint16_t port :
         {std::uint16_t{0}, std::uint16_t{17001}, std::uint16_t{0xffff}}) {
      auto mended = header;
      address_to_child(mended, Ipv4Address(address), port);
      auto sealed = header;
      sealed.destination = Ipv4Address(address);
      sealed.child_address = Ipv4Address(address);
      sealed.child_port = port;
      reseal(sealed);
      EXPECT_EQ(std::memcmp(&mended, &sealed, sizeof sealed), 0) << address << ' ' << port;
    }
  }
}

TEST(CanaryError, names) {
  EXPECT_EQ(name(CanaryError::none), "none");
  EXPECT_EQ(name(CanaryError::crc), "crc");
  EXPECT_EQ(name(CanaryError::oversized), "oversized");
}

TEST(PeekCanaryKey, reads_job_and_id_or_zero) {
  const auto bytes = packet_of(contribution());
  EXPECT_EQ(peek_canary_key(bytes), 0x0000123400000007ULL);
  EXPECT_EQ(peek_canary_key(Bytes(bytes).first(63)), 0U);
  EXPECT_EQ(peek_canary_key({}), 0U);
}

TEST(CanaryPorts, range_and_source_ports) {
  EXPECT_FALSE(is_canary_udp_port(16999));
  EXPECT_TRUE(is_canary_udp_port(17000));
  EXPECT_TRUE(is_canary_udp_port(17255));
  EXPECT_FALSE(is_canary_udp_port(17256));
  std::set<std::uint16_t> ports;
  for (std::uint64_t key = 0; key < 10000; ++key) {
    ports.insert(source_port_of(key));
    EXPECT_GE(source_port_of(key), 0xc000);
  }
  EXPECT_GT(ports.size(), 7000U) << "keys spread over the 16384 source ports";
  EXPECT_TRUE(canary_group_mac.is_group());
}

TEST(MixKey, seeds_and_keys_make_a_difference_in_half_of_the_bits) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto changed = mix_key(12345, 1) ^ mix_key(12345 ^ (1ULL << bit), 1);
    EXPECT_GT(std::popcount(changed), 10);
    EXPECT_LT(std::popcount(changed), 54);
  }
  EXPECT_NE(mix_key(1, 1), mix_key(1, 2));
}

}  // namespace
}  // namespace tributary::wire
