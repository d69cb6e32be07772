// SPDX-License-Identifier: BSD-3-Clause
// The NetReduce engine fed with a sequence of packets. An input is a list of commands of a few
// bytes each; rings, ranks, messages and queue pairs are few, so that they meet.
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "input.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/engine/engine.h"
#include "protocols/netreduce/engine/protocol.h"
#include "support/engine_harness.h"
#include "support/roce_packets.h"

namespace {

using namespace tributary;

constexpr std::uint32_t mtu = 256;

wire::Ipv4Address address_of(unsigned rank) {
  return wire::Ipv4Address(0x0a000001u + rank);
}

wire::IpAddress parent_of(bool is_v6) {
  constexpr wire::Ipv4Address address(10, 9, 9, 9);
  return is_v6 ? test::ipv6_of(address) : wire::IpAddress(address);
}

// The switch has all of the ring below it, or is a leaf, a spine, or both.
void place(netreduce::RingConfig& ring, unsigned layout) {
  const auto first = ring.members.front();
  const std::vector<wire::IpAddress> others(ring.members.begin() + 1, ring.members.end());
  if (layout == 1) {
    ring.local = {first};
    ring.parent = parent_of(!first.is_v4());
  } else if (layout == 2) {
    ring.racks = {{first}, others};
  } else if (layout == 3 && ring.members.size() > 2) {
    ring.local = {first};
    ring.racks = {{others.front()}};
    ring.parent = parent_of(!first.is_v4());
  }
}

netreduce::NetReduceConfig config_of(std::uint8_t choice) {
  netreduce::NetReduceConfig config;
  for (unsigned id = 0; id < 1u + (choice & 1u); ++id) {
    auto& ring = config.rings.emplace_back();
    ring.id = id;
    for (unsigned rank = 0; rank < 2u + ((choice >> 1) & 1u); ++rank) {
      const auto address = address_of(rank);
      ring.members.push_back((choice & 0x10) != 0 ? test::ipv6_of(address)
                                                  : wire::IpAddress(address));
    }
    ring.window = 1;
    ring.message_packets = 3;
    ring.mtu = mtu;
    place(ring, (choice >> 2) & 3u);
    assert(!netreduce::find_fault(config, id));
  }
  return config;
}

class Session {
 public:
  explicit Session(fuzz::Input input) : input_(input) {}

  void run() {
    while (!input_.empty()) {
      step(input_.next());
      assert(harness_.ledger.balanced());
      assert(engine_.stalled(now_, 4).size() <= 4);
    }
    engine_.reconfigure({});
    assert(pool_.outstanding() == 0);
  }

 private:
  void step(std::uint8_t command) {
    switch (command % 8) {
      case 0:
        now_ += std::chrono::seconds(input_.next());
        return;
      case 1:
        engine_.reconfigure(config_of(input_.next()));
        return;
      case 2:
        return feed(tampered(true));
      case 3:
        return feed(tampered(false));
      default:
        return feed(make());
    }
  }

  // Packet `number` of a message of up to three packets, or one that is none.
  PacketPtr make() {
    const auto who = input_.next();
    const auto what = input_.next();
    const auto shape = input_.next();
    test::GradientSpec spec;
    spec.rank = who & 3u;
    spec.ring = (who >> 2) & 1u;
    spec.world = static_cast<std::uint16_t>(2u + ((who >> 3) & 1u));
    spec.run = (who >> 4) & 1u;
    spec.message = what & 7u;
    const std::uint32_t number = (what >> 3) % 3u;
    spec.length = 48 + number * mtu + ((what >> 5) & 3u) * mtu / 2;
    spec.type = static_cast<wire::ElementType>(shape & 7u);
    spec.op = static_cast<wire::Operator>((shape >> 3) & 7u);
    const auto packets = wire::ina_packets(spec.length, mtu);
    std::vector<std::byte> payload(wire::ina_payload_bytes(spec.length, mtu, number),
                                   std::byte{shape});
    const auto header = test::ina_of(spec, mtu);
    if (number == 0 && (who & 0x80) == 0) {
      std::memcpy(payload.data(), &header, sizeof header);
    }
    test::RoceSpec roce;
    roce.source = address_of(spec.rank);
    roce.destination = address_of((spec.rank + 1u) % spec.world);
    roce.destination_qp = (who >> 5) & 1u;
    roce.psn = wire::psn_add(0xfffffa, spec.message * 3 + number);
    roce.opcode =
        test::roce_opcode((shape & 0x40) != 0, number == 0, number + 1 == packets, shape & 0x80);
    roce.length = spec.length;
    roce.is_v6 = (what & 0x80) != 0;
    return test::make_roce(pool_, roce, payload);
  }

  // Some bytes behind the UDP header changed, and the ICRC right again or not.
  PacketPtr tampered(bool sealed) {
    auto packet = make();
    const std::size_t headers = (packet != nullptr && is_v6(*packet)) ? 62 : 42;
    for (auto changes = input_.next() % 8; packet != nullptr && changes > 0; --changes) {
      const auto at = headers + input_.next() % (packet->length - headers);
      packet->data()[at] = std::byte{input_.next()};
    }
    if (packet != nullptr && sealed) {
      test::reseal_roce(*packet);
    }
    return packet;
  }

  static bool is_v6(Packet& packet) { return engine::parse_frame(packet).ipv4 == nullptr; }

  void feed(PacketPtr packet) {
    if (packet == nullptr ||
        !netreduce::engine_kind.protocol.claims(engine::parse_frame(*packet))) {
      return;
    }
    for (auto& sent : harness_.process(std::move(packet), now_)) {
      // What was kept goes on whole and intact.
      assert(sent.received || test::has_right_icrc(*sent.packet));
      assert(netreduce::engine_kind.protocol.claims(engine::parse_frame(*sent.packet)));
      assert(!sent.towards || *sent.towards == parent_of(is_v6(*sent.packet)));
    }
  }

  fuzz::Input input_;
  HeapPacketPool pool_{64, 512};
  netreduce::NetReduceEngine engine_{config_of(1)};
  test::EngineHarness harness_{engine_};
  Time now_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Session(fuzz::Input({data, size})).run();
  return 0;
}
