// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "forwarding/bfd_session.h"
#include "support/switch_bench.h"
#include "wire/bfd.h"

namespace tributary::test {

// A neighbour of the switch behind port 1, with a session of its own, which receives the switch's
// packets. Derived classes know the packets of a version of IP.
class BfdNeighbour {
 public:
  static constexpr PortIndex port = 1;

  BfdNeighbour(SwitchBench& bench, const forwarding::BfdConfig& config)
      : session(config, 77, 5), bench_(bench) {}
  virtual ~BfdNeighbour() = default;
  BfdNeighbour(const BfdNeighbour&) = delete;
  BfdNeighbour& operator=(const BfdNeighbour&) = delete;

  // Makes a packet of the neighbour to the switch.
  virtual PacketPtr frame(const wire::BfdHeader& header) = 0;

  // Lets time pass for both; with `speaks` the neighbour's packets arrive.
  void run(Duration time, bool speaks = true) {
    for (const auto end = bench_.now + time; bench_.now < end;) {
      hear(bench_.advance(std::chrono::milliseconds(1)));
      session.expire(bench_.now);
      while (const auto packet = session.poll(bench_.now)) {
        if (speaks) {
          hear(bench_.send(port, frame(*packet)));
        }
      }
    }
  }
  // Makes a header that is not from the neighbour, but gives `state` in its name.
  wire::BfdHeader forged(wire::BfdState state, std::uint32_t your_discriminator) const {
    wire::BfdHeader header;
    header.state_flags = static_cast<std::uint8_t>(static_cast<unsigned>(state) << 6);
    header.detect_multiplier = 3;
    header.my_discriminator = session.discriminator();
    header.your_discriminator = your_discriminator;
    return header;
  }

  // Returns the states in the BFD packets among these.
  std::vector<wire::BfdState> states_in(const std::vector<PacketPtr>& packets) const {
    std::vector<wire::BfdState> states;
    for (const auto& packet : packets) {
      if (const auto* header = packet->egress == port ? heard(*packet) : nullptr) {
        states.push_back(header->state());
      }
    }
    return states;
  }

  forwarding::BfdSession session;
  PacketPtr last;  // that the switch sent it

 protected:
  SwitchBench& bench_;

 private:
  // Returns null if the packet is no BFD of this version.
  virtual const wire::BfdHeader* heard(Packet& packet) const = 0;

  void hear(std::vector<PacketPtr> packets) {
    for (auto& packet : packets) {
      const auto* header = packet->egress == port ? heard(*packet) : nullptr;
      if (header != nullptr) {
        session.receive(*header, bench_.now);
        last = std::move(packet);
      }
    }
  }
};

}  // namespace tributary::test
