// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "packet/fate.h"
#include "packet/pool.h"
#include "support/same_frame.h"

namespace tributary::test {

// Sent is what an engine wants sent: a complete frame by `port`, or by its destination (no_port).
struct Sent {
  PacketPtr packet;
  PortIndex port = no_port;
  engine::Path path;
  bool received = false;
  std::optional<wire::IpAddress> towards{};
};

// Returns the figure of that name; ~0 if there is none.
inline std::uint64_t figure_among(const std::vector<engine::Figure>& figures,
                                  std::string_view name) {
  for (const auto& figure : figures) {
    if (figure.name == name) {
      return figure.value;
    }
  }
  return ~std::uint64_t{0};
}
inline std::uint64_t figure_of(const engine::TreeStatus& tree, std::string_view name) {
  return figure_among(tree.figures, name);
}

// An EngineHarness plays the switch around one engine: it counts what enters, and settles what
// leaves. The ledger has to balance after every call, and what the engine says of a frame has to be
// right.
class EngineHarness {
 public:
  explicit EngineHarness(engine::Engine& engine, unsigned cores = 1)
      : engine_(engine), actions_(ledger, cores) {}

  // Hands over a burst (null packets are left out) and returns what the engine wants sent.
  std::vector<Sent> process(std::vector<PacketPtr> packets, Time now) {
    std::vector<engine::Arrival> burst;
    for (auto& packet : packets) {
      if (packet != nullptr) {
        auto frame = engine::parse_frame(*packet);
        burst.push_back({std::move(packet), frame});
        ++ledger.received;
      }
    }
    engine_.process(burst, now, actions_);
    return settle();
  }
  std::vector<Sent> process(PacketPtr packet, Time now) {
    std::vector<PacketPtr> burst;
    burst.push_back(std::move(packet));
    return process(std::move(burst), now);
  }
  // Hands over a packet of a block that another core owns.
  std::vector<Sent> gather(PacketPtr packet, Time now) {
    std::vector<engine::Arrival> burst;
    auto frame = engine::parse_frame(*packet);
    burst.push_back({std::move(packet), frame});
    ++ledger.received;
    engine_.gather(burst, now, actions_);
    return settle();
  }
  std::vector<Sent> merge(PacketPtr partial_sum, Time now) {
    engine_.merge(PacketList(std::move(partial_sum)), now, actions_);
    return settle();
  }
  // These return what is to go to the other cores since they were asked last.
  std::vector<PacketPtr> passed_on() { return taken(actions_.passed_on()); }
  std::vector<PacketPtr> partial_sums() { return taken(actions_.partial_sums()); }

  std::vector<Sent> expire(Time now) {
    engine_.expire(now, actions_);
    return settle();
  }

  std::uint64_t drops(DropReason reason) const {
    return ledger.drops[static_cast<std::size_t>(reason)];
  }
  std::uint64_t losses(DropReason reason) const {
    return ledger.losses[static_cast<std::size_t>(reason)];
  }
  // Returns a figure of the engine; ~0 if it has none of that name.
  std::uint64_t figure(std::string_view name) const {
    return figure_among(engine_.figures(), name);
  }

  Ledger ledger;

 private:
  std::vector<Sent> settle() {
    std::vector<Sent> sent;
    while (auto frame = actions_.frames().pop()) {
      ++ledger.sent;
      const auto port = frame->egress;
      make_whole(*frame);
      sent.push_back({std::move(frame), port, {}, false});
    }
    for (auto& departure : actions_.departures()) {
      assert(departure.frame.ethernet == nullptr ||
             is_same(departure.frame, engine::parse_frame(*departure.packet)));
      ++(departure.received ? ledger.forwarded : ledger.sent);
      sent.push_back({std::move(departure.packet), no_port, departure.path.value_or(engine::Path{}),
                      departure.received, departure.towards});
    }
    actions_.departures().clear();
    actions_.origins().clear();
    return sent;
  }

  static std::vector<PacketPtr> taken(PacketRuns& by_core) {
    std::vector<PacketPtr> packets;
    by_core.drain([&](std::uint32_t /*core*/, PacketList run) {
      while (auto packet = run.pop()) {
        packets.push_back(std::move(packet));
      }
    });
    return packets;
  }

  engine::Engine& engine_;
  engine::Actions actions_;
};

}  // namespace tributary::test
