// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/rendezvous.h"

#include <atomic>
#include <functional>
#include <memory>
#include <poll.h>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "host/rendezvous/secret.h"
#include "host/rendezvous/table.h"
#include "host/transport/tcp.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

RendezvousHello hello_from(std::uint32_t rank, std::uint32_t world_size) {
  RendezvousHello hello;
  hello.rank = rank;
  hello.world_size = world_size;
  hello.address = wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(rank));
  hello.port = static_cast<std::uint16_t>(17000 + rank);
  hello.ring_port = static_cast<std::uint16_t>(4000 + rank);
  hello.payload_bytes = 1408;
  hello.window = 64;
  hello.algorithm = rendezvous_name("auto");
  hello.protocol = rendezvous_name("netreduce");
  return hello;
}

// Returns rank 0's complaint about a table of rank 0, rank 1 and `hello`.
std::string complaint(const RendezvousHello& hello) {
  RendezvousTable table(hello_from(0, 3));
  EXPECT_FALSE(table.add(hello_from(1, 3)));
  return table.add(hello).value_or("");
}

TEST(RendezvousTable, NamesEveryDisagreement) {
  EXPECT_EQ(complaint(hello_from(2, 3)), "");
  EXPECT_NE(complaint(hello_from(1, 3)).find("rank 1 came twice"), std::string::npos);
  EXPECT_NE(complaint(hello_from(2, 4)).find("world size 4, rank 0 with 3"), std::string::npos);
  EXPECT_NE(complaint(hello_from(3, 3)).find("rank 3 does not exist"), std::string::npos);
  auto hello = hello_from(2, 3);
  hello.version = rendezvous_version + 1;
  EXPECT_NE(complaint(hello).find("speaks version " + std::to_string(rendezvous_version + 1)),
            std::string::npos);
  hello = hello_from(2, 3);
  hello.encapsulation = wire::Encapsulation::ethernet;
  EXPECT_NE(complaint(hello).find("encapsulation"), std::string::npos);
  hello = hello_from(2, 3);
  hello.job = 5;
  EXPECT_NE(complaint(hello).find("started with job 5, rank 0 with 0"), std::string::npos);
  hello = hello_from(2, 3);
  hello.fallback = 1;
  EXPECT_NE(complaint(hello).find("fallback"), std::string::npos);
  hello = hello_from(2, 3);
  hello.reproducible = 1;
  EXPECT_EQ(complaint(hello),
            "rank 2 asks for reproducible sums, rank 0 does not: give all ranks the same "
            "TRIBUTARY_REPRODUCIBLE");
  hello = hello_from(2, 3);
  hello.never_doubles = 1;
  EXPECT_EQ(complaint(hello), "rank 2 and rank 0 differ in TRIBUTARY_DOUBLING (on or off)");
  hello = hello_from(2, 3);
  hello.over_ipv6 = 1;
  EXPECT_NE(complaint(hello).find("rank 2 has an address of IPv6, rank 0 one of IPv4"),
            std::string::npos);
  hello = hello_from(2, 3);
  hello.algorithm = rendezvous_name("panama");
  EXPECT_NE(complaint(hello).find("algorithm"), std::string::npos);
  hello = hello_from(2, 3);
  hello.protocol = rendezvous_name("canary");
  EXPECT_EQ(complaint(hello),
            "rank 2 is going to try canary, rank 0 netreduce: give all ranks the same parameters "
            "(TRIBUTARY_NETREDUCE_RING, TRIBUTARY_NETREDUCE_WINDOW, TRIBUTARY_NETREDUCE_MESSAGE, "
            "TRIBUTARY_NETREDUCE_MTU)");
  hello.protocol = rendezvous_name("\x1b[2Jowned");
  EXPECT_NE(complaint(hello).find("rank 2 is going to try another protocol, rank 0 netreduce"),
            std::string::npos);
  hello = hello_from(2, 3);
  hello.settings[0] = 1;
  EXPECT_EQ(complaint(hello), "rank 2 was started with TRIBUTARY_NETREDUCE_RING 1, rank 0 with 0");
  hello = hello_from(2, 3);
  hello.settings[3] = 4096;
  EXPECT_EQ(complaint(hello),
            "rank 2 was started with TRIBUTARY_NETREDUCE_MTU 4096, rank 0 with 0");
  for (const std::uint32_t bytes : {0u, 31u, 1409u, 0xffffffffu, 0xffffffe0u}) {
    hello = hello_from(2, 3);
    hello.payload_bytes = bytes;
    EXPECT_NE(complaint(hello).find("impossible"), std::string::npos) << bytes;
  }
  hello = hello_from(2, 3);
  hello.window = 0;
  EXPECT_NE(complaint(hello).find("impossible"), std::string::npos);
}

TEST(RendezvousTable, ListsAreNamedWithoutTheirChecksums) {
  auto host = hello_from(0, 2);
  host.protocol = rendezvous_name("panama");
  auto hello = hello_from(1, 2);
  hello.protocol = host.protocol;
  hello.settings[0] = 0x12345678;
  EXPECT_EQ(RendezvousTable(host).add(hello), "rank 1 and rank 0 differ in TRIBUTARY_TREES");
}

TEST(RendezvousTable, SaysWhoIsMissing) {
  RendezvousTable table(hello_from(0, 5));
  table.add(hello_from(3, 5));
  EXPECT_EQ(table.missing(), "1, 2, 4");
  table.remove(3);
  EXPECT_EQ(table.missing(), "1, 2, 3, 4");
  EXPECT_FALSE(table.complete());
}

TEST(RendezvousTable, AgreesOnTheSmallest) {
  RendezvousTable table(hello_from(0, 2));
  auto hello = hello_from(1, 2);
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
  RendezvousTable table(hello_from(0, 2));
  table.add(hello_from(1, 2));
  auto bytes = table.agreement(77, {5});
  const auto body = wire::MutableBytes(bytes).subspan(sizeof(RendezvousReply));
  EXPECT_FALSE(parse_agreement(body.first(body.size() - 1), hello_from(1, 2)));
  EXPECT_FALSE(parse_agreement({}, hello_from(1, 2)));
  EXPECT_FALSE(parse_agreement(body, hello_from(1, 3)));
  reinterpret_cast<RendezvousAgreement*>(body.data())->payload_bytes = 1 << 20;
  EXPECT_FALSE(parse_agreement(body, hello_from(1, 2)));
}

Endpoint free_place() {
  auto listener = listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
  return listener->local;
}

// Returns what a rank knows when all are ready, or why they are not.
Result<Meeting> meet_fully(const Endpoint& place, const RendezvousHello& hello,
                           const std::string& secret, Time until) {
  auto met = meet(place, hello, secret, until);
  if (!met) {
    return tl::make_unexpected(met.error());
  }
  const auto concluded = (*met)->conclude({}, until);
  return concluded ? Result<Meeting>((*met)->meeting()) : tl::make_unexpected(concluded.error());
}

std::vector<Result<Meeting>> meet_all(const std::vector<RendezvousHello>& hellos, Duration patience,
                                      const std::function<void(Endpoint)>& meanwhile = {},
                                      const std::vector<std::string>& secrets = {}) {
  const auto place = free_place();
  std::vector<Result<Meeting>> meetings(hellos.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < hellos.size(); ++i) {
      threads.emplace_back([&, i] {
        // Rank 0 is not the first to come.
        const bool is_host = hellos[i].rank.value() == 0;
        std::this_thread::sleep_for(is_host ? 50ms : 0ms);
        meetings[i] = meet_fully(place, hellos[i], secrets.empty() ? "" : secrets[i],
                                 Clock::now() + (is_host ? patience : 2 * patience));
      });
    }
    if (meanwhile) {
      meanwhile(place);
    }
  }
  return meetings;
}

TEST(Rendezvous, AllLearnTheSame) {
  const auto meetings = meet_all({hello_from(0, 3), hello_from(1, 3), hello_from(2, 3)}, 5s);
  for (const auto& meeting : meetings) {
    ASSERT_TRUE(meeting) << meeting.error().message;
    EXPECT_EQ(meeting->job.id, meetings[0]->job.id);
    EXPECT_EQ(meeting->job.key, meetings[0]->job.key);
    EXPECT_EQ(meeting->job.peers, meetings[0]->job.peers);
  }
}

TEST(Rendezvous, AChosenJobIsKept) {
  auto hellos = std::vector{hello_from(0, 2), hello_from(1, 2)};
  for (auto& hello : hellos) {
    hello.job = 7;
  }
  for (const auto& meeting : meet_all(hellos, 5s)) {
    ASSERT_TRUE(meeting) << meeting.error().message;
    EXPECT_EQ(meeting->job.id, 7u);
  }
}

TEST(Rendezvous, AllLearnOfADisagreement) {
  const auto meetings = meet_all({hello_from(0, 2), hello_from(1, 3)}, 5s);
  for (const auto& meeting : meetings) {
    ASSERT_FALSE(meeting);
    EXPECT_EQ(meeting.error().code, Error::Code::rendezvous);
    EXPECT_NE(meeting.error().message.find("world size 3, rank 0 with 2"), std::string::npos)
        << meeting.error().message;
  }
}

TEST(Rendezvous, AllLearnWhoDidNotCome) {
  const auto meetings = meet_all({hello_from(0, 3), hello_from(1, 3)}, 300ms);
  ASSERT_FALSE(meetings[0]);
  EXPECT_NE(meetings[0].error().message.find("rank 2 of 3 did not come"), std::string::npos)
      << meetings[0].error().message;
  ASSERT_FALSE(meetings[1]);
  EXPECT_EQ(meetings[1].error().message, meetings[0].error().message);
}

TEST(Rendezvous, WithoutRank0EndsByTheDeadline) {
  const auto before = Clock::now();
  const auto meeting = meet(free_place(), hello_from(1, 2), {}, before + 200ms);
  ASSERT_FALSE(meeting);
  EXPECT_NE(meeting.error().message.find("rank 0 does not listen"), std::string::npos)
      << meeting.error().message;
  EXPECT_LT(Clock::now() - before, 2s);
}

TEST(Rendezvous, ARankThatHearsNothingComesAgain) {
  const auto until = Clock::now() + 60s;
  auto listener = listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
  ASSERT_TRUE(listener);
  const auto place = listener->local;
  Result<Meeting> guest;
  std::jthread thread([&] { guest = meet_fully(place, hello_from(1, 2), {}, until); });
  // As where a reset was lost: to the rank this one is connected, and nobody has it.
  const auto unheard = accept_until(*listener, until);
  ASSERT_TRUE(unheard);
  auto host = meet(place, hello_from(0, 2), {}, until, std::move(*listener));
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_TRUE((*host)->conclude({}, until));
  thread.join();
  EXPECT_TRUE(guest) << guest.error().message;
}

TEST(Rendezvous, StrangersAreIgnored) {
  const auto meetings = meet_all({hello_from(0, 2), hello_from(1, 2)}, 5s, [](Endpoint place) {
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

bool is_closed_by(const FileDescriptor& connection, Time until) {
  RendezvousWelcome welcome;
  std::byte more{};
  return receive_all(connection.get(), std::as_writable_bytes(std::span(&welcome, 1)), until) &&
         receive_all(connection.get(), std::span(&more, 1), until).error().code ==
             Error::Code::network;
}

// Connections that send nothing do not take all of rank 0's descriptors.
TEST(Rendezvous, IdleStrangersAreTurnedAway) {
  const auto place = free_place();
  const auto until = Clock::now() + 10s;
  Result<Meeting> host;
  std::jthread thread([&] { host = meet_fully(place, hello_from(0, 2), {}, until); });
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 400; ++i) {
    auto stranger = connect_until(place, {}, until);
    ASSERT_TRUE(stranger);
    strangers.push_back(std::move(*stranger));
  }
  for (int i = 0; i < 100; ++i) {  // the first ones made room
    EXPECT_TRUE(is_closed_by(strangers[static_cast<std::size_t>(i)], until));
  }
  const auto guest = meet_fully(place, hello_from(1, 2), {}, until);
  EXPECT_TRUE(guest) << guest.error().message;
  thread.join();
  EXPECT_TRUE(host) << host.error().message;
}

// A stranger that greets like a rank and stays connected.
class Stranger {
 public:
  Stranger(const Endpoint& place, const RendezvousHello& hello, const RendezvousProof& proof = {},
           const RendezvousNonce& nonce = {})
      : fd_(*connect_until(place, {}, Clock::now() + 5s)) {
    EXPECT_TRUE(
        receive_all(fd_.get(), std::as_writable_bytes(std::span(&welcome_, 1)), Clock::now() + 5s));
    const RendezvousGreeting greeting{hello, nonce, proof};
    EXPECT_TRUE(send_all(fd_.get(), std::as_bytes(std::span(&greeting, 1)), Clock::now() + 5s));
  }
  // Rank 0 has read the greeting.
  bool is_answered() { return wait_for(fd_.get(), POLLIN, Clock::now() + 5s); }

 private:
  FileDescriptor fd_;
  RendezvousWelcome welcome_;
};

constexpr auto at_once = 10s;  // far below any deadline here

TEST(RendezvousWithASecret, AllLearnTheSameAndTheKeyIsNotOnTheWire) {
  const auto meetings =
      meet_all({hello_from(0, 3), hello_from(1, 3), hello_from(2, 3)}, 20s, {}, {"s", "s", "s"});
  for (const auto& meeting : meetings) {
    ASSERT_TRUE(meeting) << meeting.error().message;
    EXPECT_EQ(meeting->job.key, meetings[0]->job.key);
  }
  const JobKey drawn{1, 2, 3};
  EXPECT_NE(Secret("s").job_key(drawn), drawn);
  EXPECT_NE(Secret("s").job_key(drawn), Secret("t").job_key(drawn));
  EXPECT_EQ(Secret("").job_key(drawn), drawn);
}

TEST(RendezvousWithASecret, AStrangersGreetingEndsNothing) {
  const auto before = Clock::now();
  const std::string secret = "s";
  const auto meetings =
      meet_all({hello_from(0, 2)}, 20s,
               [&](Endpoint place) {
                 const auto other_world = hello_from(1, 3);
                 Stranger(place, hello_from(1, 2));
                 Stranger(place, other_world);
                 // The answer of a rank with this secret to an earlier question.
                 RendezvousSession heard;
                 heard.host = draw_nonce();
                 const auto proof = Secret(secret).prove(RendezvousStep::greeting, heard,
                                                         std::as_bytes(std::span(&other_world, 1)));
                 Stranger(place, other_world, proof, heard.guest);
                 // All of them connected before the true rank.
                 const auto met = meet_fully(place, hello_from(1, 2), secret, before + 20s);
                 EXPECT_TRUE(met) << met.error().message;
               },
               {secret});
  EXPECT_TRUE(meetings[0]) << meetings[0].error().message;
  EXPECT_LT(Clock::now() - before, at_once);
}

TEST(RendezvousWithASecret, WhoHasAnotherOneIsToldAtOnceAndTheOthersWhoItWas) {
  for (const auto* const other : {"t", ""}) {
    const auto before = Clock::now();
    std::string told;
    const auto meetings =
        meet_all({hello_from(0, 3), hello_from(1, 3)}, 1s,
                 [&](Endpoint place) {
                   told = meet(place, hello_from(2, 3), other, before + 20s).error().message;
                   EXPECT_LT(Clock::now() - before, at_once);
                 },
                 {"s", "s"});
    EXPECT_NE(told.find("TRIBUTARY_SECRET"), std::string::npos) << told;
    for (const auto& meeting : meetings) {
      ASSERT_FALSE(meeting);
      EXPECT_NE(meeting.error().message.find("rank 2 from 10.0.0.2 does not know the secret"),
                std::string::npos)
          << meeting.error().message;
    }
  }
}

TEST(RendezvousWithASecret, ARank0WithoutIsNotBelieved) {
  const auto meetings = meet_all({hello_from(0, 2), hello_from(1, 2)}, 20s, {}, {"", "s"});
  ASSERT_FALSE(meetings[0]);
  EXPECT_NE(meetings[0].error().message.find("rank 1 was given a secret, rank 0 was not"),
            std::string::npos)
      << meetings[0].error().message;
  ASSERT_FALSE(meetings[1]);
  EXPECT_NE(meetings[1].error().message.find("does not know the secret of this rank"),
            std::string::npos)
      << meetings[1].error().message;
}

TEST(RendezvousWithoutASecret, AStrangersGreetingFailsAllAtOnceAlsoThoseThatComeLater) {
  const auto before = Clock::now();
  Result<Meeting> last;
  const auto meetings = meet_all({hello_from(0, 4), hello_from(1, 4)}, 20s, [&](Endpoint place) {
    Stranger stranger(place, hello_from(2, 4));
    EXPECT_FALSE(meet(place, hello_from(2, 4), {}, before + 20s));
    Stranger(place, hello_from(3, 4));  // does not stand for the rank
    last = meet_fully(place, hello_from(3, 4), {}, before + 20s);
  });
  EXPECT_LT(Clock::now() - before, at_once);
  for (const auto& meeting : {meetings[0], meetings[1], last}) {
    ASSERT_FALSE(meeting);
    EXPECT_NE(meeting.error().message.find("rank 2 came twice"), std::string::npos);
    EXPECT_NE(meeting.error().message.find("TRIBUTARY_SECRET"), std::string::npos);
  }
}

// The others waited only for the rank that the stranger claimed: the true rank finds that they have
// begun.
TEST(RendezvousWithoutASecret, ARankInWhosePlaceAStrangerCameEndsTheMeetingAtOnce) {
  const auto before = Clock::now();
  const auto meetings = meet_all({hello_from(0, 2)}, 20s, [&](Endpoint place) {
    Stranger stranger(place, hello_from(1, 2));
    ASSERT_TRUE(stranger.is_answered());
    EXPECT_FALSE(meet(place, hello_from(1, 2), {}, before + 20s));
  });
  EXPECT_LT(Clock::now() - before, at_once);
  ASSERT_FALSE(meetings[0]);
  EXPECT_NE(meetings[0].error().message.find("rank 1 came twice"), std::string::npos);
}

constexpr std::uint16_t later = rendezvous_version + 1;

// Returns rank 0's result when it received only these bytes.
Result<Meeting> told_only(wire::Bytes bytes, const std::string& secret, Duration patience) {
  return meet_all({hello_from(0, 2)}, patience,
                  [&](const Endpoint& place) {
                    const auto until = Clock::now() + 5s;
                    const auto fd = *connect_until(place, {}, until);
                    EXPECT_TRUE(send_all(fd.get(), bytes, until));
                    EXPECT_FALSE(is_closed_by(fd, until)) << "it is told why";
                  },
                  {secret})[0];
}

std::vector<std::byte> old_hello(std::size_t length) {
  RendezvousHello hello = hello_from(1, 2);
  hello.version = 4;
  const auto bytes = std::as_bytes(std::span(&hello, 1));
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)};
}

TEST(RendezvousVersions, AShorterHelloEndsTheMeetingAtOnce) {
  for (const std::size_t length : {12u, 84u}) {
    const auto before = Clock::now();
    const auto meeting = told_only(old_hello(length), "", 20s);
    EXPECT_LT(Clock::now() - before, at_once);
    ASSERT_FALSE(meeting);
    EXPECT_EQ(meeting.error().message,
              "rank 1 speaks version 4 of the rendezvous, rank 0 version " +
                  std::to_string(rendezvous_version) + install_the_same);
  }
}

TEST(RendezvousVersions, AStrangersEndsNothingWithASecretButIsNamed) {
  const auto meeting = told_only(old_hello(84), "s", 1s);
  ASSERT_FALSE(meeting);
  EXPECT_NE(meeting.error().message.find("did not come"), std::string::npos);
  EXPECT_NE(meeting.error().message.find("turned away: rank 1 speaks version 4"), std::string::npos)
      << meeting.error().message;
}

TEST(RendezvousVersions, ARankOfTheJobEndsTheMeetingAtOnceWithASecretToo) {
  const auto before = Clock::now();
  auto other = hello_from(1, 2);
  other.version = later;
  const auto meetings = meet_all({hello_from(0, 2), other}, 20s, {}, {"s", "s"});
  EXPECT_LT(Clock::now() - before, at_once);
  for (const auto& meeting : meetings) {
    ASSERT_FALSE(meeting);
    EXPECT_NE(meeting.error().message.find("rank 1 speaks version " + std::to_string(later) +
                                           " of the rendezvous, rank 0"),
              std::string::npos)
        << meeting.error().message;
  }
}

TEST(RendezvousVersions, ARankEndsAtOnceAtARank0OfAnotherAndSaysSo) {
  for (const auto* const secret : {"", "s"}) {
    const auto before = Clock::now();
    auto listener = *listen_on({wire::Ipv4Address(127, 0, 0, 1), 0});
    RendezvousGreeting heard;
    std::jthread host([&] {
      ASSERT_TRUE(wait_for(listener.fd.get(), POLLIN, before + 20s));
      const auto fd = accept_now(listener);
      RendezvousWelcome welcome;
      welcome.version = later;
      EXPECT_TRUE(send_all(fd.get(), std::as_bytes(std::span(&welcome, 1)), before + 20s));
      EXPECT_TRUE(
          receive_all(fd.get(), std::as_writable_bytes(std::span(&heard, 1)), before + 20s));
    });
    const auto met = meet(listener.local, hello_from(1, 2), secret, before + 20s);
    host.join();
    EXPECT_LT(Clock::now() - before, at_once);
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().message, "rank 0 speaks version " + std::to_string(later) +
                                       " of the rendezvous, this rank version " +
                                       std::to_string(rendezvous_version) + install_the_same);
    EXPECT_EQ(heard.hello.rank.value(), 1u) << "so that rank 0 knows, too";
  }
}

// Three ranks have met; one of them gets the given result, and the others wait for it.
std::vector<Result<void>> all_but_one(std::uint32_t failing,
                                      const std::function<void(Rendezvous&)>& fare) {
  const auto place = free_place();
  const auto until = Clock::now() + 20s;
  std::vector<Result<void>> ends(3);
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      auto met = *meet(place, hello_from(rank, 3), "s", until);
      if (rank == failing) {
        fare(*met);
      } else {
        const auto waited = met->wait(-1, 0, until);  // as while it connects with others
        ends[rank] = waited ? Result<void>() : tl::make_unexpected(waited.error());
      }
    });
  }
  threads.clear();
  return ends;
}

TEST(Rendezvous, ARankThatFailsAfterwardsSaysSoToAll) {
  for (const std::uint32_t failing : {0u, 2u}) {
    const auto before = Clock::now();
    const auto ends = all_but_one(failing, [&](Rendezvous& met) {
      EXPECT_FALSE(met.conclude(fail(Error::Code::network, "no way"), before + 20s));
    });
    EXPECT_LT(Clock::now() - before, at_once);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      if (rank != failing) {
        ASSERT_FALSE(ends[rank]);
        EXPECT_EQ(ends[rank].error().message, "rank " + std::to_string(failing) + ": no way");
      }
    }
  }
}

TEST(Rendezvous, ARankThatIsKilledAfterwardsIsMissedAtOnce) {
  for (const std::uint32_t failing : {0u, 2u}) {
    const auto before = Clock::now();
    const auto ends = all_but_one(failing, [](Rendezvous&) {});
    EXPECT_LT(Clock::now() - before, at_once);
    const auto expected = "rank " + std::to_string(failing) + " has ended";
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      if (rank != failing) {
        ASSERT_FALSE(ends[rank]);
        EXPECT_NE(ends[rank].error().message.find(expected), std::string::npos);
      }
    }
  }
}

TEST(Rendezvous, WhoIsNotReadyByTheDeadlineHasAName) {
  const auto place = free_place();
  Result<Meeting> host;
  std::unique_ptr<Rendezvous> late;
  {
    std::jthread other([&] { late = *meet(place, hello_from(1, 2), {}, Clock::now() + 5s); });
    host = meet_fully(place, hello_from(0, 2), {}, Clock::now() + 500ms);
  }
  ASSERT_FALSE(host);
  EXPECT_NE(host.error().message.find("rank 1 did not join the ring"), std::string::npos)
      << host.error().message;
}

}  // namespace
}  // namespace tributary::host::test
