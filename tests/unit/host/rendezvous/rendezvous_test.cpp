// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/rendezvous.h"

#include <atomic>
#include <functional>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "host/rendezvous/table.h"
#include "host/transport/tcp.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

RendezvousHello hello_of(std::uint32_t rank, std::uint32_t world_size) {
  RendezvousHello hello;
  hello.rank = rank;
  hello.world_size = world_size;
  hello.address = wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(rank));
  hello.canary_port = static_cast<std::uint16_t>(17000 + rank);
  hello.ring_port = static_cast<std::uint16_t>(4000 + rank);
  hello.payload_bytes = 1408;
  hello.window = 64;
  return hello;
}

// Rank 0's complaint about a table of rank 0, rank 1 and `hello`.
std::string complaint(const RendezvousHello& hello) {
  RendezvousTable table(hello_of(0, 3));
  EXPECT_FALSE(table.add(hello_of(1, 3)));
  return table.add(hello).value_or("");
}

TEST(RendezvousTable, NamesEveryDisagreement) {
  EXPECT_EQ(complaint(hello_of(2, 3)), "");
  EXPECT_NE(complaint(hello_of(1, 3)).find("rank 1 came twice"), std::string::npos);
  EXPECT_NE(complaint(hello_of(2, 4)).find("world size 4, rank 0 with 3"), std::string::npos);
  EXPECT_NE(complaint(hello_of(3, 3)).find("rank 3 does not exist"), std::string::npos);
  auto hello = hello_of(2, 3);
  hello.version = 9;
  EXPECT_NE(complaint(hello).find("speaks version 9"), std::string::npos);
  hello = hello_of(2, 3);
  hello.encapsulation = wire::Encapsulation::ethernet;
  EXPECT_NE(complaint(hello).find("encapsulation"), std::string::npos);
  hello = hello_of(2, 3);
  hello.job = 5;
  EXPECT_NE(complaint(hello).find("started with job 5, rank 0 with 0"), std::string::npos);
  hello = hello_of(2, 3);
  hello.preferences = 1;
  EXPECT_NE(complaint(hello).find("algorithm"), std::string::npos);
  hello = hello_of(2, 3);
  hello.trees = 2;
  EXPECT_NE(complaint(hello).find("TRIBUTARY_TREES"), std::string::npos);
  hello = hello_of(2, 3);
  hello.trees_crc = 2;
  EXPECT_NE(complaint(hello).find("TRIBUTARY_TREES"), std::string::npos);
  hello = hello_of(2, 3);
  hello.congestion_control = 1;
  EXPECT_NE(complaint(hello).find("TRIBUTARY_CONGESTION_CONTROL"), std::string::npos);
  hello = hello_of(2, 3);
  hello.quorum = 2;
  EXPECT_NE(complaint(hello).find("TRIBUTARY_SHARE"), std::string::npos);
  hello = hello_of(2, 3);
  hello.ring = 1;
  EXPECT_EQ(complaint(hello), "rank 2 was started with TRIBUTARY_NETREDUCE_RING 1, rank 0 with 0");
  hello = hello_of(2, 3);
  hello.message_window = 4;
  EXPECT_EQ(complaint(hello),
            "rank 2 was started with TRIBUTARY_NETREDUCE_WINDOW 4, rank 0 with 0");
  hello = hello_of(2, 3);
  hello.message_packets = 170;
  EXPECT_EQ(complaint(hello),
            "rank 2 was started with TRIBUTARY_NETREDUCE_MESSAGE 170, rank 0 with 0");
  hello = hello_of(2, 3);
  hello.path_mtu = 4096;
  EXPECT_EQ(complaint(hello),
            "rank 2 was started with TRIBUTARY_NETREDUCE_MTU 4096, rank 0 with 0");
  for (const std::uint32_t bytes : {0u, 31u, 1409u, 0xffffffffu, 0xffffffe0u}) {
    hello = hello_of(2, 3);
    hello.payload_bytes = bytes;
    EXPECT_NE(complaint(hello).find("impossible"), std::string::npos) << bytes;
  }
  hello = hello_of(2, 3);
  hello.window = 0;
  EXPECT_NE(complaint(hello).find("impossible"), std::string::npos);
}

TEST(RendezvousTable, SaysWhoIsMissing) {
  RendezvousTable table(hello_of(0, 5));
  table.add(hello_of(3, 5));
  EXPECT_EQ(table.missing(), "1, 2, 4");
  table.remove(3);
  EXPECT_EQ(table.missing(), "1, 2, 3, 4");
  EXPECT_FALSE(table.complete());
}

TEST(RendezvousTable, AgreesOnTheSmallest) {
  RendezvousTable table(hello_of(0, 2));
  auto hello = hello_of(1, 2);
  hello.payload_bytes = 960;
  hello.window = 16;
  table.add(hello);
  ASSERT_TRUE(table.complete());
  const auto bytes = table.agreement(77, {5});
  const auto meeting = parse_agreement(wire::Bytes(bytes).subspan(sizeof(RendezvousReply)), hello);
  ASSERT_TRUE(meeting);
  EXPECT_EQ(meeting->job.id, 77u);
  EXPECT_EQ(meeting->job.key, (JobKey{5}));
  EXPECT_EQ(meeting->job.rank, 1u);
  EXPECT_EQ(meeting->job.payload_bytes, 960u);
  EXPECT_EQ(meeting->job.window, 16u);
  EXPECT_EQ(meeting->job.peers[1].port, 17001);
  EXPECT_EQ(meeting->ring[1].port, 4001);
}

TEST(RendezvousTable, NonsenseFromRank0IsRefused) {
  RendezvousTable table(hello_of(0, 2));
  table.add(hello_of(1, 2));
  auto bytes = table.agreement(77, {5});
  const auto body = wire::MutableBytes(bytes).subspan(sizeof(RendezvousReply));
  EXPECT_FALSE(parse_agreement(body.first(body.size() - 1), hello_of(1, 2)));
  EXPECT_FALSE(parse_agreement({}, hello_of(1, 2)));
  EXPECT_FALSE(parse_agreement(body, hello_of(1, 3)));
  reinterpret_cast<RendezvousAgreement*>(body.data())->payload_bytes = 1 << 20;
  EXPECT_FALSE(parse_agreement(body, hello_of(1, 2)));
}

Endpoint free_place() {
  auto listener = listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
  return listener->local;
}

std::vector<Result<Meeting>> meet_all(const std::vector<RendezvousHello>& hellos, Duration patience,
                                      const std::function<void(Endpoint)>& meanwhile = {}) {
  const auto place = free_place();
  std::vector<Result<Meeting>> meetings(hellos.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < hellos.size(); ++i) {
      threads.emplace_back([&, i] {
        // Rank 0 is not the first to come.
        const bool is_host = hellos[i].rank.value() == 0;
        std::this_thread::sleep_for(is_host ? 50ms : 0ms);
        meetings[i] = meet(place, hellos[i], Clock::now() + (is_host ? patience : 2 * patience));
      });
    }
    if (meanwhile) {
      meanwhile(place);
    }
  }
  return meetings;
}

TEST(Rendezvous, AllLearnTheSame) {
  const auto meetings = meet_all({hello_of(0, 3), hello_of(1, 3), hello_of(2, 3)}, 5s);
  for (const auto& meeting : meetings) {
    ASSERT_TRUE(meeting) << meeting.error().message;
    EXPECT_EQ(meeting->job.id, meetings[0]->job.id);
    EXPECT_EQ(meeting->job.key, meetings[0]->job.key);
    EXPECT_EQ(meeting->job.peers, meetings[0]->job.peers);
  }
}

TEST(Rendezvous, AChosenJobIsKept) {
  auto hellos = std::vector{hello_of(0, 2), hello_of(1, 2)};
  for (auto& hello : hellos) {
    hello.job = 7;
  }
  for (const auto& meeting : meet_all(hellos, 5s)) {
    ASSERT_TRUE(meeting) << meeting.error().message;
    EXPECT_EQ(meeting->job.id, 7u);
  }
}

TEST(Rendezvous, AllLearnOfADisagreement) {
  const auto meetings = meet_all({hello_of(0, 2), hello_of(1, 3)}, 5s);
  for (const auto& meeting : meetings) {
    ASSERT_FALSE(meeting);
    EXPECT_EQ(meeting.error().code, Error::Code::rendezvous);
    EXPECT_NE(meeting.error().message.find("world size 3, rank 0 with 2"), std::string::npos)
        << meeting.error().message;
  }
}

TEST(Rendezvous, AllLearnWhoDidNotCome) {
  const auto meetings = meet_all({hello_of(0, 3), hello_of(1, 3)}, 300ms);
  ASSERT_FALSE(meetings[0]);
  EXPECT_NE(meetings[0].error().message.find("rank 2 of 3 did not come"), std::string::npos)
      << meetings[0].error().message;
  ASSERT_FALSE(meetings[1]);
  EXPECT_EQ(meetings[1].error().message, meetings[0].error().message);
}

TEST(Rendezvous, WithoutRank0EndsByTheDeadline) {
  const auto before = Clock::now();
  const auto meeting = meet(free_place(), hello_of(1, 2), before + 200ms);
  ASSERT_FALSE(meeting);
  EXPECT_NE(meeting.error().message.find("rank 0 does not listen"), std::string::npos)
      << meeting.error().message;
  EXPECT_LT(Clock::now() - before, 2s);
}

TEST(Rendezvous, StrangersAreIgnored) {
  const auto meetings = meet_all({hello_of(0, 2), hello_of(1, 2)}, 5s, [](Endpoint place) {
    for (const std::size_t length : {0u, 5u, 32u, 100u}) {
      auto stranger = connect_until(place, {}, Clock::now() + 200ms);
      if (stranger) {
        const std::vector<std::byte> noise(length, std::byte{'x'});
        (void)send_all(stranger->get(), noise, Clock::now() + 100ms);
      }
    }
  });
  EXPECT_TRUE(meetings[0]) << meetings[0].error().message;
  EXPECT_TRUE(meetings[1]) << meetings[1].error().message;
}

// Connections that say nothing do not take all of rank 0's descriptors.
TEST(Rendezvous, IdleStrangersAreTurnedAway) {
  const auto place = free_place();
  const auto until = Clock::now() + 10s;
  Result<Meeting> host;
  std::jthread thread([&] { host = meet(place, hello_of(0, 2), until); });
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 400; ++i) {
    auto stranger = connect_until(place, {}, until);
    ASSERT_TRUE(stranger);
    strangers.push_back(std::move(*stranger));
  }
  for (int i = 0; i < 100; ++i) {  // the first ones made room
    EXPECT_TRUE(wait_for(strangers[static_cast<std::size_t>(i)].get(), POLLIN, until));
  }
  const auto guest = meet(place, hello_of(1, 2), until);
  EXPECT_TRUE(guest) << guest.error().message;
  thread.join();
  EXPECT_TRUE(host) << host.error().message;
}

}  // namespace
}  // namespace tributary::host::test
