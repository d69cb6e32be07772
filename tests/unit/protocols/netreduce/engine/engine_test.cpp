// SPDX-License-Identifier: BSD-3-Clause
// Tests the handling of single packets (sections 3.1 and 3.2).
#include <cstring>
#include <vector>

#include "fixture.h"
#include "protocols/netreduce/engine/drop_reasons.h"
#include "support/frames.h"
#include "wire/checksum.h"

namespace tributary::netreduce {
namespace {

TEST_F(NetReduceTest, packets_wait_until_those_of_all_ranks_are_there) {
  EXPECT_TRUE(feed(0, 0, 0).empty());
  EXPECT_TRUE(feed(2, 0, 0).empty());
  EXPECT_EQ(figure("packets_waiting"), 2u);
  const auto sent = feed(1, 0, 0);
  ASSERT_EQ(sent.size(), 3u);
  for (std::uint16_t rank = 0; rank < 3; ++rank) {
    expect_sum(*sent[rank].packet, rank, 0, 0);
    EXPECT_FALSE(sent[rank].received);
  }
  EXPECT_EQ(figure("packets_waiting"), 0u);
  EXPECT_EQ(figure("sums_total"), 1u);
  EXPECT_EQ(harness_.ledger.absorbed, 3u);
  EXPECT_EQ(harness_.ledger.originated, 3u);
}

// Their sequence numbers pass 2^24 on the way.
TEST_F(NetReduceTest, all_packets_of_many_messages_become_sums) {
  for (std::uint32_t message = 0; message < 20; ++message) {
    for (std::uint32_t packet = 0; packet < 4; ++packet) {
      feed(0, message, packet);
      feed(1, message, packet);
      const auto sent = feed(2, message, packet);
      ASSERT_EQ(sent.size(), 3u);
      for (std::uint16_t rank = 0; rank < 3; ++rank) {
        expect_sum(*sent[rank].packet, rank, message, packet);
      }
    }
  }
  EXPECT_EQ(harness_.ledger.dropped(), 0u);
  EXPECT_EQ(figure("connections"), 3u);
}

TEST_F(NetReduceTest, repeat_of_a_packet_that_waits_takes_its_place) {
  feed(0, 0, 0);
  auto repeat = make(0, 0, 0);
  auto& bth = *test::roce_of(*repeat).bth;
  bth.acknowledge = wire::BthHeader::acknowledge_bit;
  test::reseal_roce(*repeat);
  EXPECT_TRUE(feed(std::move(repeat)).empty());
  EXPECT_EQ(figure("overwritten_total"), 1u);
  EXPECT_EQ(figure("packets_waiting"), 1u);
  feed(1, 0, 0);
  const auto sent = feed(2, 0, 0);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(test::roce_of(*sent[0].packet).bth->acknowledge, wire::BthHeader::acknowledge_bit);
  expect_sum(*sent[1].packet, 1, 0, 0);
}

TEST_F(NetReduceTest, repeat_of_a_finished_packet_is_answered_with_the_sum) {
  feed_message(0);
  for (const std::uint32_t packet : {2u, 0u, 3u}) {
    const auto sent = feed(1, 0, packet);
    ASSERT_EQ(sent.size(), 1u);
    expect_sum(*sent[0].packet, 1, 0, packet);
    EXPECT_TRUE(sent[0].received);
  }
  EXPECT_EQ(figure("answered_total"), 3u);
}

// The paper would have freed it when message 2 began.
TEST_F(NetReduceTest, sum_is_kept_until_everybody_has_received_it) {
  feed_message(0);
  feed_message(1);
  feed_message(2);
  feed(0, 3, 1);
  const auto sent = feed(1, 0, 1);
  ASSERT_EQ(sent.size(), 1u);
  expect_sum(*sent[0].packet, 1, 0, 1);
}

TEST_F(NetReduceTest, repeat_of_what_everybody_has_passes) {
  for (std::uint32_t message = 0; message < 5; ++message) {
    feed_message(message);
  }
  for (const std::uint32_t packet : {0u, 1u}) {
    auto repeat = make(1, 0, packet);
    const std::vector<std::byte> before(repeat->data(), repeat->data() + repeat->length);
    const auto sent = feed(std::move(repeat));
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(std::memcmp(sent[0].packet->data(), before.data(), before.size()), 0);
  }
  feed_message(5);
}

// The connection remembers message 4 in the place of message 0.
TEST_F(NetReduceTest, late_copy_of_a_first_packet_hides_no_later_message) {
  for (std::uint32_t message = 0; message < 4; ++message) {
    feed_message(message);
  }
  for (std::uint16_t rank = 0; rank < 3; ++rank) {
    feed(rank, 4, 0);
  }
  EXPECT_EQ(feed(1, 0, 0).size(), 1u);
  EXPECT_EQ(figure("past_total"), 1u);
  EXPECT_TRUE(feed(1, 4, 1).empty());
  EXPECT_EQ(figure("packets_waiting"), 1u);
  EXPECT_EQ(harness_.ledger.dropped(), 0u);
}

// They get a number that their receiver answers with a NAK, and at which it never accepts a packet.
TEST_F(NetReduceTest, packets_whose_first_packet_was_lost_tell_the_receiver_so) {
  feed_message(0);
  for (const std::uint32_t number : {1u, 3u}) {
    auto wanted = make(0, 1, number);
    const auto psn = psn_of(0, 1, number);
    test::roce_of(*wanted).bth->psn = wire::psn_add(psn, wire::provoking_distance);
    test::reseal_roce(*wanted);
    const auto sent = feed(0, 1, number);
    ASSERT_EQ(sent.size(), 1u);
    ASSERT_EQ(sent[0].packet->length, wanted->length);
    EXPECT_EQ(std::memcmp(sent[0].packet->data(), wanted->data(), wanted->length), 0);
  }
  EXPECT_EQ(figure("provoked_total"), 2u);
  EXPECT_TRUE(feed(0, 1, 0).empty());
  EXPECT_TRUE(feed(0, 1, 1).empty());
  EXPECT_EQ(figure("packets_waiting"), 2u);
}

TEST_F(NetReduceTest, damaged_packet_whose_first_packet_was_lost_gets_no_right_icrc) {
  feed_message(0);
  auto packet = make(0, 1, 1);
  packet->data()[packet->length - 20] ^= std::byte{1};
  EXPECT_TRUE(feed(std::move(packet)).empty());
  EXPECT_EQ(harness_.drops(drop::icrc), 1u);
}

// Go-back-N restarts in the middle of the message before the latest.
TEST_F(NetReduceTest, older_messages_are_known_by_their_sequence_numbers) {
  feed(0, 0, 0);
  feed(0, 0, 1);
  feed(0, 1, 0);
  EXPECT_TRUE(feed(0, 0, 2).empty());
  EXPECT_EQ(figure("packets_waiting"), 4u);
  for (std::uint16_t rank = 1; rank < 3; ++rank) {
    feed(rank, 0, 0);
    sent_ = feed(rank, 0, 2);
  }
  ASSERT_EQ(sent_.size(), 3u);
  expect_sum(*sent_[0].packet, 0, 0, 2);
}

TEST_F(NetReduceTest, everything_else_passes_untouched) {
  std::vector<PacketPtr> others;
  std::vector<std::byte> payload(64);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  spec.psn = psn_of(0, 0, 0);
  feed(0, 0, 0);
  for (unsigned opcode = 0; opcode <= 0x0b; ++opcode) {
    spec.opcode = static_cast<wire::RoceOpcode>(opcode);
    spec.destination_qp = 0x12;
    others.push_back(test::make_roce(pool_, spec, payload));
  }
  auto unknown_ring = gradient(0);
  unknown_ring.ring = 2;
  others.push_back(make(unknown_ring, 0, 0x13));
  others.push_back(make(unknown_ring, 1, 0x13));
  others.push_back(test::make_udp(pool_, {test::mac(1), test::mac(2), address_of(0), address_of(1)},
                                  1, 4791, 5));
  for (auto& packet : others) {
    const std::vector<std::byte> before(packet->data(), packet->data() + packet->length);
    const auto sent = feed(std::move(packet));
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_TRUE(sent[0].received);
    EXPECT_EQ(std::memcmp(sent[0].packet->data(), before.data(), before.size()), 0);
  }
  EXPECT_EQ(figure("passed_total"), others.size());
  EXPECT_EQ(harness_.ledger.dropped(), 0u);
}

// A sender that sends a UDP checksum over IPv6 gets one back.
TEST_F(NetReduceTest, udp_checksum_of_ipv6_stays_right) {
  auto ring = ring_of(2);
  ring.members = {test::ipv6_of(address_of(0)), test::ipv6_of(address_of(1))};
  engine_.reconfigure({{ring}});
  for (std::uint16_t rank = 0; rank < 2; ++rank) {
    auto spec = gradient(rank);
    spec.world = 2;
    spec.length = 64;
    test::RoceSpec roce;
    roce.source = address_of(rank);
    roce.destination = address_of(1u - rank);
    roce.length = spec.length;
    roce.is_v6 = true;
    auto packet = test::make_roce(pool_, roce, message_of(spec));
    if (rank == 0) {
      datagram_of(engine::parse_frame(*packet)).udp->checksum = std::uint16_t{0x1234};
    }
    sent_ = feed(std::move(packet));
  }
  ASSERT_EQ(sent_.size(), 2u);
  const auto first = datagram_of(engine::parse_frame(*sent_[0].packet));
  const auto& ip = *reinterpret_cast<const wire::Ipv6Header*>(first.ip);
  EXPECT_NE(first.udp->checksum.value(), 0);
  EXPECT_EQ(wire::transport_checksum(
                ip, {reinterpret_cast<const std::byte*>(first.udp), first.udp->length.value()}),
            0);
  EXPECT_EQ(datagram_of(engine::parse_frame(*sent_[1].packet)).udp->checksum.value(), 0);
}

TEST(NetReduceProtocol, claims_the_requests_of_reliable_connections) {
  HeapPacketPool pool(4, 512);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  const std::vector<std::byte> payload(64);
  auto packet = test::make_roce(pool, spec, payload);
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    auto* bth = reinterpret_cast<std::uint8_t*>(engine::parse_frame(*packet).payload.data());
    *bth = static_cast<std::uint8_t>(opcode);
    const bool is_request =
        opcode <= 0x0c || opcode == 0x13 || opcode == 0x14 || opcode == 0x16 || opcode == 0x17;
    EXPECT_EQ(engine_kind.protocol.claims(engine::parse_frame(*packet)), is_request) << opcode;
  }
  auto other =
      test::make_udp(pool, {test::mac(1), test::mac(2), address_of(0), address_of(1)}, 1, 4790, 32);
  EXPECT_FALSE(engine_kind.protocol.claims(engine::parse_frame(*other)));
}

TEST_F(NetReduceTest, damaged_packets_are_dropped) {
  feed(0, 0, 0);
  for (const std::uint32_t number : {0u, 1u}) {
    auto packet = make(0, 0, number);
    packet->data()[packet->length - 20] ^= std::byte{1};
    EXPECT_TRUE(feed(std::move(packet)).empty());
  }
  EXPECT_EQ(harness_.drops(drop::icrc), 2u);
}

TEST_F(NetReduceTest, headers_that_do_not_fit_the_ring_are_dropped) {
  auto other_world = gradient(0);
  other_world.world = 2;
  feed(make(other_world, 0));
  auto too_long = gradient(0);
  too_long.length = 5 * mtu;
  feed(make(too_long, 0));
  auto short_packet = make(0, 0, 0);
  auto& reth = *test::roce_of(*short_packet).reth;
  reth.length = length - 8;
  test::reseal_roce(*short_packet);
  feed(std::move(short_packet));
  EXPECT_EQ(harness_.drops(drop::malformed), 3u);
  EXPECT_EQ(figure("connections"), 0u);
}

// The path between the ranks may carry less than the ring has room for.
TEST_F(NetReduceTest, messages_of_smaller_packets_than_the_rings_are_summed) {
  auto roomy = ring_of(3);
  roomy.mtu = 4 * mtu;
  engine_.reconfigure({{roomy}});
  for (std::uint32_t message = 0; message < 3; ++message) {
    for (std::uint32_t packet = 0; packet < 4; ++packet) {
      feed(0, message, packet);
      feed(1, message, packet);
      sent_ = feed(2, message, packet);
      ASSERT_EQ(sent_.size(), 3u) << message << " " << packet;
      for (const auto& sent : sent_) {
        expect_sum(*sent.packet, static_cast<std::uint16_t>(sent.packet->ingress), message, packet);
      }
    }
  }
}

TEST_F(NetReduceTest, packets_that_are_as_long_as_no_path_mtu_are_dropped) {
  auto roomy = ring_of(3);
  roomy.mtu = 4 * mtu;
  engine_.reconfigure({{roomy}});
  constexpr std::uint32_t odd = mtu - 8;
  auto spec = gradient(0);
  spec.length = 3 * odd;
  const auto header = test::ina_of(spec, odd);
  std::vector<std::byte> payload(odd);
  std::memcpy(payload.data(), &header, sizeof header);
  test::RoceSpec roce;
  roce.source = address_of(0);
  roce.destination = address_of(1);
  roce.opcode = wire::RoceOpcode::write_first;
  roce.length = spec.length;
  feed(test::make_roce(pool_, roce, payload));
  EXPECT_EQ(harness_.drops(drop::malformed), 1u);
}

TEST_F(NetReduceTest, strangers_change_nothing) {
  feed(1, 0, 0);
  test::RoceSpec spec;
  spec.opcode = wire::RoceOpcode::write_first;
  spec.length = length;
  const auto bytes = message_of(gradient(0));
  for (const auto& [from, to] : {std::pair{9u, 1u}, std::pair{0u, 2u}, std::pair{1u, 2u}}) {
    spec.source = address_of(from);
    spec.destination = address_of(to);
    EXPECT_TRUE(feed(test::make_roce(pool_, spec, wire::Bytes(bytes).first(mtu))).empty());
  }
  EXPECT_EQ(harness_.drops(drop::not_member), 3u);
  feed(0, 0, 0);
  const auto sent = feed(2, 0, 0);
  ASSERT_EQ(sent.size(), 3u);
  expect_sum(*sent[0].packet, 0, 0, 0);
}

TEST_F(NetReduceTest, rank_has_one_connection_in_a_run) {
  feed(0, 0, 0);
  EXPECT_TRUE(feed(make(gradient(0, 0), 0, 0x12)).empty());
  EXPECT_TRUE(feed(make(gradient(0, 1), 0, 0x12)).empty());
  EXPECT_EQ(harness_.drops(drop::rank_taken), 2u);
  EXPECT_EQ(figure("packets_waiting"), 1u);
}

TEST_F(NetReduceTest, message_0_of_another_run_begins_anew) {
  feed_message(0);
  feed_message(1);
  feed(0, 2, 0);
  auto next = gradient(0);
  next.run = 2;
  for (std::uint16_t rank = 0; rank < 3; ++rank) {
    next.rank = rank;
    sent_ = feed(make(next, 0, rank == 0 ? 0x11 : 0x12));
  }
  ASSERT_EQ(sent_.size(), 3u);
  next.rank = 1;
  expect_sum(*sent_[1].packet, next, 0, 0x12);
  // Packets of the first run, also of its beginning, do not bring it back.
  EXPECT_TRUE(feed(1, 2, 0).empty());
  EXPECT_TRUE(feed(1, 0, 0).empty());
  EXPECT_EQ(harness_.drops(drop::stale_run), 2u);
  EXPECT_EQ(figure("runs"), 2u);
}

// Its aggregators are gone, so it would pass without its sum; its receiver expects it.
TEST_F(NetReduceTest, the_rest_of_a_message_of_a_run_that_is_over_does_not_pass) {
  feed_message(0);
  feed_message(1);
  feed(1, 2, 0);
  auto next = gradient(0);
  next.run = 2;
  feed(make(next, 0, 0x11));
  EXPECT_TRUE(feed(1, 2, 1).empty());
  EXPECT_EQ(harness_.drops(drop::stale_run), 1u);
  // It may be somebody else who sends by that queue pair two minutes later.
  now_ += Connection::silence_max + std::chrono::seconds(1);
  EXPECT_EQ(feed(1, 2, 1).size(), 1u);
}

TEST_F(NetReduceTest, the_rest_of_such_a_message_does_not_pass_after_a_change_of_rings_either) {
  feed_message(0);
  feed_message(1);
  feed(1, 2, 0);
  auto next = gradient(0);
  next.run = 2;
  feed(make(next, 0, 0x11));
  engine_.reconfigure({{ring_of(3), ring_of(2, 9)}});
  EXPECT_TRUE(feed(1, 2, 1).empty());
  EXPECT_EQ(harness_.drops(drop::stale_run), 1u);
}

// It is not shown as waiting either, though its memory is taken back only when it is needed.
TEST_F(NetReduceTest, what_waits_in_a_run_that_is_over_is_in_no_sum) {
  feed(0, 0, 0);
  feed(0, 0, 1);
  feed(1, 0, 1);
  auto next = gradient(0);
  next.run = 2;
  feed(make(next, 0));
  EXPECT_EQ(figure("packets_waiting"), 1u);
  EXPECT_EQ(figure("connections"), 1u);
  EXPECT_EQ(engine_.stalled(now_ + std::chrono::seconds(1), 8).size(), 1u);
  for (std::uint16_t rank = 1; rank < 3; ++rank) {
    next.rank = rank;
    feed(make(next, 0));
    EXPECT_TRUE(feed(make(next, 1)).empty());
  }
  next.rank = 0;
  const auto sent = feed(make(next, 1));
  ASSERT_EQ(sent.size(), 3u);
  expect_sum(*sent[0].packet, next, 1);
}

// A copy may come late, when a whole search for the path MTU has followed.
TEST_F(NetReduceTest, beginning_of_a_run_long_past_ends_no_other) {
  feed_message(0);
  auto next = gradient(0);
  for (next.run = 2; next.run <= 1 + wire::ring_mtus.size(); ++next.run) {
    for (std::uint16_t rank = 0; rank < 3; ++rank) {
      next.rank = rank;
      sent_ = feed(make(next, 0, 0x12));
    }
    ASSERT_EQ(sent_.size(), 3u) << next.run;
    EXPECT_TRUE(feed(0, 0, 0).empty());
    EXPECT_EQ(figure("runs"), next.run);
  }
  EXPECT_EQ(harness_.drops(drop::stale_run), wire::ring_mtus.size());
}

// The rest of a message would arrive as its rank sent it. Later it is behind all ranks.
TEST_F(NetReduceTest, restarted_switch_takes_a_run_up_where_a_message_begins) {
  for (std::uint32_t packet = 2; packet < 4; ++packet) {
    EXPECT_TRUE(feed(0, 7, packet).empty());
  }
  EXPECT_EQ(harness_.drops(drop::first_lost), 2u);
  for (std::uint32_t message = 8; message < 11; ++message) {
    feed_message(message);
    EXPECT_TRUE(feed(0, 7, 3).empty());
  }
  feed_message(11);
  EXPECT_EQ(feed(0, 7, 3).size(), 1u);
}

TEST_F(NetReduceTest, new_switch_lets_go_on_what_others_began) {
  using enum wire::RoceOpcode;
  // By its length this can be no gradient of the ring.
  EXPECT_EQ(feed_ordinary(write_middle, 0x71, 2 * mtu / 3), 1u);
  EXPECT_EQ(feed_ordinary(write_last, 0x71, 12), 1u);
  EXPECT_EQ(feed_ordinary(write_middle, 0x71, mtu), 0u);
  EXPECT_EQ(feed_ordinary(write_last, 0x71, 64), 0u);
  auto damaged = make(0, 0, 0);
  damaged->data()[damaged->length - mtu - wire::icrc_bytes] ^= std::byte{1};  // its tag
  EXPECT_EQ(feed(std::move(damaged)).size(), 1u);
  EXPECT_EQ(feed(0, 0, 1).size(), 0u);
  EXPECT_EQ(feed_ordinary(write_first, 0x71, mtu), 1u);
  EXPECT_EQ(feed_ordinary(write_middle, 0x71, mtu), 1u);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 0u);
  now_ += std::chrono::seconds(10);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 1u);
}

// A job of one of the rings begins, and what was known of others' queue pairs stays known.
TEST_F(NetReduceTest, all_rings_of_two_hosts_let_go_on_what_others_began) {
  using enum wire::RoceOpcode;
  engine_.reconfigure({{ring_of(3), ring_of(3, 2)}});
  EXPECT_EQ(feed_ordinary(write_first, 0x71, mtu), 1u);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 0u);
  now_ += std::chrono::seconds(5);
  feed(0, 0, 0);  // of ring 1
  EXPECT_EQ(feed_ordinary(write_middle, 0x71, mtu), 1u);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 0u);
  now_ += std::chrono::seconds(5);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 1u);
}

TEST_F(NetReduceTest, new_ring_beside_an_old_one_lets_no_tail_pass) {
  using enum wire::RoceOpcode;
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 0u);
  now_ += std::chrono::seconds(10);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 1u);
  auto of_twice_the_length = ring_of(3, 2);
  of_twice_the_length.mtu = 2 * mtu;
  engine_.reconfigure({{ring_of(3), of_twice_the_length}});
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, 4 * mtu), 1u);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu / 2), 1u) << "no path MTU";
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, 2 * mtu), 0u);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, mtu), 0u) << "its path may carry less";
  now_ += std::chrono::seconds(10);
  EXPECT_EQ(feed_ordinary(write_middle, 0x72, 2 * mtu), 1u);
}

TEST_F(NetReduceTest, rank_that_was_met_makes_no_other_connection_suspect) {
  feed_message(0);
  EXPECT_EQ(feed_ordinary(wire::RoceOpcode::write_middle, 0x71, mtu), 1u);
}

TEST_F(NetReduceTest, other_kinds_of_elements_are_a_mismatch) {
  feed(0, 0, 0);
  auto other = gradient(1);
  other.type = wire::ElementType::f32;
  EXPECT_TRUE(feed(make(other, 0)).empty());
  auto shorter = gradient(2);
  shorter.length = 32 + 16;
  EXPECT_TRUE(feed(make(shorter, 0)).empty());
  EXPECT_EQ(harness_.drops(drop::mismatch), 2u);
}

// A queue pair may be used for other messages in between, and all of them may be repeated.
TEST_F(NetReduceTest, ordinary_messages_of_a_rank_pass_between_gradients) {
  const auto ordinary = [this](wire::RoceOpcode opcode, std::uint32_t packet) {
    test::RoceSpec spec;
    spec.source = address_of(0);
    spec.destination = address_of(1);
    spec.opcode = opcode;
    spec.psn = psn_of(0, 1, packet);
    spec.length = 3 * mtu;
    return test::make_roce(pool_, spec, std::vector<std::byte>(mtu));
  };
  feed_message(0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(feed(ordinary(wire::RoceOpcode::write_first, 0)).size(), 1u);
    EXPECT_EQ(feed(ordinary(wire::RoceOpcode::write_middle, 1)).size(), 1u);
    EXPECT_EQ(feed(ordinary(wire::RoceOpcode::write_last, 2)).size(), 1u);
    EXPECT_EQ(feed(0, 0, 2).size(), 1u);
    feed(0, 2, 0);
    EXPECT_EQ(figure("packets_waiting"), 1u);
  }
  EXPECT_EQ(figure("passed_total"), 6u);
  EXPECT_EQ(figure("connections"), 3u);
}

// A machine has started anew, with the same queue pair and sequence numbers of an earlier message.
TEST_F(NetReduceTest, numbers_that_somebody_else_uses_are_let_go) {
  feed(0, 0, 0);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  spec.opcode = wire::RoceOpcode::send_first;
  spec.psn = psn_of(0, 0, 1);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, std::vector<std::byte>(mtu))).size(), 1u);
  EXPECT_EQ(figure("connections"), 0u);
  spec.opcode = wire::RoceOpcode::send_middle;
  spec.psn = psn_of(0, 0, 2);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, std::vector<std::byte>(mtu))).size(), 1u);
}

// Its sender has a long timer. If the packet passed unchanged, its receiver would take it for the
// sum.
TEST_F(NetReduceTest, repeat_after_long_silence_is_a_gradient) {
  for (std::uint16_t rank = 0; rank < 3; ++rank) {
    feed(rank, 0, 0);
  }
  now_ += std::chrono::seconds(121);
  EXPECT_TRUE(feed(0, 0, 1).empty());
  feed(1, 0, 1);
  auto sent = feed(2, 0, 1);
  ASSERT_EQ(sent.size(), 3u);
  expect_sum(*sent[0].packet, 0, 0, 1);
  now_ += std::chrono::hours(2);
  sent = feed(0, 0, 1);
  ASSERT_EQ(sent.size(), 1u);
  expect_sum(*sent[0].packet, 0, 0, 1);
}

TEST_F(NetReduceTest, ordinary_message_after_long_silence_is_of_somebody_else) {
  feed(0, 0, 0);
  now_ += std::chrono::seconds(121);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  spec.opcode = wire::RoceOpcode::send_only;
  spec.psn = psn_of(0, 1, 0);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, std::vector<std::byte>(64))).size(), 1u);
  EXPECT_EQ(figure("connections"), 0u);
}

TEST_F(NetReduceTest, next_message_after_long_silence_leaves_the_others_known) {
  feed(0, 0, 0);
  feed(0, 1, 0);
  now_ += std::chrono::seconds(121);
  feed(0, 2, 0);
  EXPECT_TRUE(feed(0, 1, 1).empty());
  EXPECT_EQ(figure("packets_waiting"), 4u);
}

TEST_F(NetReduceTest, send_is_no_packet_of_a_write) {
  feed(0, 0, 0);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  spec.opcode = wire::RoceOpcode::send_middle;
  spec.psn = psn_of(0, 0, 1);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, std::vector<std::byte>(mtu))).size(), 1u);
  EXPECT_EQ(figure("connections"), 0u);
}

// Another program has the queue pair and its numbers by now; its packet with the number of the
// gradient message's first one was lost on the way here.
TEST_F(NetReduceTest, message_of_unknown_length_reaches_into_no_gradient) {
  const auto bytes = message_of(gradient(0));
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  spec.opcode = wire::RoceOpcode::send_first;
  spec.psn = psn_of(0, 0, 0);
  EXPECT_TRUE(feed(test::make_roce(pool_, spec, wire::Bytes(bytes).first(mtu))).empty());
  const std::vector<std::byte> others(mtu, std::byte{7});
  spec.psn = wire::psn_add(psn_of(0, 0, 0), wire::psn_mask);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, others)).size(), 1u);
  spec.opcode = wire::RoceOpcode::send_middle;
  spec.psn = psn_of(0, 0, 1);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, others)).size(), 1u) << "it was taken for a gradient";
}

// Ordinary messages follow until the sequence numbers wrap.
TEST_F(NetReduceTest, gradients_of_long_ago_are_forgotten) {
  feed_message(0);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  const auto feed_write = [&](wire::RoceOpcode opcode, std::uint32_t psn) {
    spec.opcode = opcode;
    spec.length = mtu;
    spec.psn = psn & wire::psn_mask;
    return feed(test::make_roce(pool_, spec, std::vector<std::byte>(mtu))).size();
  };
  const auto first = psn_of(0, 0, 0);
  for (std::uint32_t step = 1; step < 16; ++step) {
    EXPECT_EQ(feed_write(wire::RoceOpcode::write_only, first + (step << 20)), 1u);
  }
  EXPECT_EQ(feed_write(wire::RoceOpcode::write_middle, first + 1), 1u);
  EXPECT_EQ(figure("answered_total"), 0u);
  EXPECT_EQ(figure("connections"), 2u);
}

// A late copy of an ordinary packet is before the gradients that follow it.
TEST_F(NetReduceTest, late_copy_of_an_ordinary_message_hides_no_gradient) {
  feed_message(0);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  spec.opcode = wire::RoceOpcode::send_only;
  spec.psn = psn_of(0, 1, 0);
  const std::vector<std::byte> payload(64);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, payload)).size(), 1u);
  feed(0, 2, 0);
  EXPECT_EQ(feed(test::make_roce(pool_, spec, payload)).size(), 1u);
  EXPECT_TRUE(feed(0, 2, 1).empty());
  EXPECT_EQ(figure("packets_waiting"), 2u);
}

TEST_F(NetReduceTest, one_queue_pair_serves_the_ring_that_it_named_last) {
  engine_.reconfigure({{ring_of(3), ring_of(3, 2)}});
  feed(0, 0, 0);
  auto other = gradient(0);
  other.ring = 2;
  feed(make(other, 0));
  feed(make(other, 1));
  EXPECT_EQ(figure("connections"), 1u);
  EXPECT_EQ(figure("packets_waiting"), 3u);
}

TEST_F(NetReduceTest, reload_keeps_the_rings_that_stay) {
  feed(0, 0, 0);
  engine_.reconfigure({{ring_of(2, 9), ring_of(3)}});
  EXPECT_EQ(figure("packets_waiting"), 1u);
  feed(1, 0, 0);
  EXPECT_EQ(feed(2, 0, 0).size(), 3u);
  feed(0, 0, 1);
  engine_.reconfigure({});
  EXPECT_EQ(figure("packets_waiting"), 0u);
  EXPECT_EQ(feed(0, 0, 1).size(), 1u);
}

TEST_F(NetReduceTest, stalled_names_the_ranks_that_are_late) {
  feed(0, 0, 0);
  feed(0, 0, 1);
  EXPECT_TRUE(engine_.stalled(now_, 8).empty());
  const auto rows = engine_.stalled(now_ + std::chrono::seconds(1), 8);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].job, 1u);
  EXPECT_EQ(rows[0].missing, (std::vector<std::uint16_t>{1, 2}));
  EXPECT_EQ(engine_.descriptors(now_, 8).size(), 2u);
  EXPECT_EQ(engine_.jobs()[0].contributions, 2u);
}

}  // namespace
}  // namespace tributary::netreduce
