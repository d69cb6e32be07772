// SPDX-License-Identifier: BSD-3-Clause
// The PANAMA engine fed with a sequence of packets and time steps. An input is a list of commands
// of a few bytes each; trees, VIDs and buffers are few, so that they meet.
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "input.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/engine.h"
#include "protocols/panama/engine/protocol.h"
#include "support/engine_harness.h"
#include "support/panama_packets.h"

namespace {

using namespace tributary;
using fuzz::Input;

constexpr std::size_t packets = 40;  // so few that copies find no buffer now and then
constexpr std::size_t held_max = 8;
constexpr std::uint32_t packet_memory = 10;
constexpr PortIndex parent = 3;

const engine::SwitchIdentity self{42, wire::Ipv4Address{10, 0, 255, 1}, {}, 4};

// A root, a leaf, and a root and a leaf of jobs that do without one worker. The leaf's mask has a
// word of which only a part stands for ranks.
panama::TreeConfig tree_of(std::uint8_t number) {
  panama::TreeConfig tree;
  tree.job = number;
  tree.group = wire::Ipv4Address(239, 192, 0, number);
  tree.children = {0, 1, 2};
  const bool is_root = number % 2 == 0;
  tree.workers_below = 4;
  tree.workers = is_root ? 4 : 100;
  tree.quorum = static_cast<std::uint16_t>(tree.workers - (number / 2) % 2);
  if (!is_root) {
    tree.parent = parent;
  }
  return tree;
}

panama::PanamaConfig config_of(std::uint8_t chosen) {
  panama::PanamaConfig config;
  config.packet_memory = packet_memory;
  for (std::uint8_t number = 0; number < 4; ++number) {
    if ((chosen >> number & 1) != 0) {
      config.trees.push_back(tree_of(number));
    }
  }
  return config;
}

// Writes ranks next to each other into the mask, so that those of two ports are the same now and
// then. Those of a leaf are at the end of a word and the beginning of the next.
void set_ranks(test::PanamaSpec& spec, const panama::TreeConfig& tree) {
  spec.present_beyond.resize(1);
  const auto first = spec.ingress + (tree.parent ? 62u : 0u);
  for (auto rank = first; rank < first + spec.contributions; ++rank) {
    auto& word = rank < 64 ? spec.present : spec.present_beyond[0];
    word |= std::uint64_t{1} << rank % 64;
  }
}

class Session {
 public:
  explicit Session(Input input) : input_(input) {}

  void run() {
    while (!input_.empty()) {
      step(input_.next());
      assert(harness_.ledger.balanced());
      check_memory();
    }
    drain();
    held_.clear();
  }
  ~Session() {
    engine_.reconfigure(config_of(0));
    assert(pool_.outstanding() == 0);
  }

 private:
  void step(std::uint8_t command) {
    switch (command % 8) {
      case 0:
        now_ += std::chrono::microseconds(1 << (input_.next() % 28));
        return hold(harness_.expire(now_));
      case 1:
        return feed(make(wire::PanamaKind::result));
      case 2:
        return feed(tampered());
      case 3:
        return feed_back();
      case 4:
        engine_.reconfigure(config_of(input_.next()));
        return;
      default:
        return feed(make(wire::PanamaKind::aggregation));
    }
  }

  PacketPtr make(wire::PanamaKind kind) {
    test::PanamaSpec spec;
    const auto who = input_.next();
    const auto what = input_.next();
    const auto shape = input_.next();
    const auto tree = tree_of(who & 3u);
    spec.kind = kind;
    spec.job = tree.job;
    spec.group = tree.group;
    spec.workers = tree.workers;
    spec.ingress = (who >> 2) & 3u;
    spec.epoch = (who >> 4) & 3u;
    spec.contributions = static_cast<std::uint16_t>(1 + (who >> 6));
    spec.vid = what & 31u;
    spec.fin = (what & 0x20) != 0;
    spec.retransmission = (what & 0x40) != 0;
    spec.rank = (what & 0x80) != 0 ? wire::PanamaHeader::no_rank : spec.ingress;
    spec.type = (shape & 1) != 0 ? wire::ElementType::bf16 : wire::ElementType::i32;
    spec.fingerprint = spec.ingress + ((shape >> 1) & 1u);
    if (tree.is_partial() && kind != wire::PanamaKind::inquiry) {
      set_ranks(spec, tree);
    }
    spec.wnd_cap = (shape & 4) != 0 ? 3 : wire::PanamaHeader::wnd_cap_none;
    spec.tos |= (shape & 8) != 0 ? wire::ecn::ce : 0;
    const std::vector<std::byte> payload((shape >> 4) * wire::element_bytes(spec.type));
    return test::make_panama(pool_, spec, payload);
  }

  // Some bytes changed, and the CRC right again or not.
  PacketPtr tampered() {
    auto packet = make(static_cast<wire::PanamaKind>(1 + input_.next() % 2));
    if (packet == nullptr) {
      return packet;
    }
    const auto changes = input_.next();
    for (auto left = changes % 8; left > 0; --left) {
      packet->data()[input_.next() % packet->length] = std::byte{input_.next()};
    }
    if ((changes & 0x80) != 0) {
      packet->length -= input_.next() % packet->length;
    }
    if ((changes & 0x40) != 0) {
      test::reseal_panama(*packet);
    }
    return packet;
  }

  void feed(PacketPtr packet) {
    if (packet != nullptr && panama::engine_kind.protocol.claims(engine::parse_frame(*packet))) {
      hold(harness_.process(std::move(packet), now_));
    }
  }

  // What left comes in again, as from the next switch.
  void feed_back() {
    if (!held_.empty()) {
      auto packet = std::move(held_.back());
      held_.pop_back();
      packet->ingress = input_.next() & 3u;
      feed(std::move(packet));
    }
  }

  void hold(std::vector<test::Sent> sent) {
    for (auto& one : sent) {
      const auto frame = engine::parse_frame(*one.packet);
      assert(panama::engine_kind.protocol.claims(frame));
      assert(wire::parse_panama(frame.payload).error == wire::PanamaError::none);
      assert(one.port < self.ports);
      held_.push_back(std::move(one.packet));
    }
    if (held_.size() > held_max) {
      held_.erase(held_.begin(), held_.end() - held_max);
    }
  }

  void check_memory() const {
    std::uint64_t granted = 0;
    for (const auto& tree : engine_.trees()) {
      const auto of_tree = test::figure_of(tree, "granted_packets");
      const auto early = panama::initial_window;
      assert(test::figure_of(tree, "held_packets") <= of_tree + early);
      static_cast<void>(early);
      granted += of_tree;
    }
    assert(granted <= packet_memory);
    assert(harness_.figure("packets_held_high_water") <= packet_memory);
    static_cast<void>(granted);
  }

  // All that is silent comes to rest.
  void drain() {
    while (engine_.deadline() != never) {
      now_ = std::max(now_, engine_.deadline());
      hold(harness_.expire(now_));
    }
    assert(harness_.figure("packets_kept") == 0);
    assert(harness_.figure("trees_active") == 0);
  }

  Input input_;
  HeapPacketPool pool_{packets, 512};
  panama::PanamaEngine engine_{config_of(0xf), self, pool_};
  test::EngineHarness harness_{engine_};
  Time now_{};
  std::vector<PacketPtr> held_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Session(Input({data, size})).run();
  return 0;
}
