// SPDX-License-Identifier: BSD-3-Clause
// The Canary engine fed with a sequence of packets and time steps. An input is a list of commands
// of a few bytes each; the blocks, workers and descriptors are few, so that they meet.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "input.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/engine.h"
#include "protocols/canary/engine/protocol.h"
#include "support/canary_packets.h"
#include "support/engine_harness.h"
#include "support/handlers.h"

namespace {

using namespace tributary;
using fuzz::Input;

constexpr std::size_t packets = 24;  // so few that copies find no buffer now and then
constexpr std::size_t held_max = 12;

constexpr wire::CanaryKind answers[] = {wire::CanaryKind::result, wire::CanaryKind::release,
                                        wire::CanaryKind::request, wire::CanaryKind::failure,
                                        wire::CanaryKind::pending};

const test::LoadedHandler loaded(0, std::make_unique<test::OneLess>());

const engine::SwitchIdentity self{42, wire::Ipv4Address{10, 0, 255, 1}, {}, 8};

canary::CanaryConfig config_of(std::uint8_t choice) {
  canary::CanaryConfig config;
  config.descriptors = 4;
  config.timeout.reset();  // adaptive
  if ((choice & 0xf) != 0) {
    config.timeout = std::chrono::microseconds((choice & 0xf) * 50);
  }
  config.timeout_min = std::chrono::microseconds(1);
  config.timeout_max = std::chrono::microseconds(800);
  config.partitions = choice & 2 ? 2 : 0;
  config.job_quota = choice & 4 ? 2 : 0;
  config.port_quota = choice & 8 ? 3 : 0;
  config.age_max = std::chrono::microseconds(1 + (choice >> 4) * 100);
  config.reclaim_after = config.age_max / 2;
  config.hash_seed = 1;
  return config;
}

class Session {
 public:
  explicit Session(Input input) : input_(input) {}

  void run() {
    while (!input_.empty()) {
      step(input_.next());
      assert(harness_.ledger.balanced());
      assert(engine_.stalled(now_, 4).size() <= 4);
      assert(engine_.deadline() == never || harness_.figure("descriptors_in_use") > 0);
    }
    drain();
    held_.clear();
    assert(pool_.outstanding() == 0);
  }

 private:
  void step(std::uint8_t command) {
    switch (command % 8) {
      case 0:
        now_ += std::chrono::microseconds(input_.next());
        return hold(harness_.expire(now_));
      case 1:
        return feed(make(answers[(command >> 3) % std::size(answers)]));
      case 2:
        return feed(make(wire::CanaryKind::restoration));
      case 3:
        return feed(tampered(true));
      case 4:
        return feed(tampered(false));
      case 5:
        return feed_back();
      case 6:
        engine_.reconfigure(config_of(input_.next()));
        return;
      default:
        return feed(make(wire::CanaryKind::contribution));
    }
  }

  test::CanarySpec spec_of(wire::CanaryKind kind) {
    test::CanarySpec spec;
    const auto block = input_.next();
    const auto who = input_.next();
    const auto shape = input_.next();
    spec.kind = kind;
    spec.id = wire::canary_id(block & 7u, (block >> 5) & 3u);
    spec.job = (block >> 3) & 3u;
    spec.encapsulation =
        (block & 0x80) != 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
    spec.child_address = wire::Ipv4Address(0x0a000001u + (who & 7u));
    spec.child_port = static_cast<std::uint16_t>(17000 + (who >> 6));
    spec.ingress = (who >> 3) & 7u;
    spec.type = static_cast<wire::ElementType>(shape & 7u);
    spec.op = static_cast<wire::Operator>((shape >> 3) & 7u);
    if (who >= 0xc0) {  // of i32 the first one is loaded
      spec.op = wire::handler_operator((shape >> 3) & 1u);
    }
    spec.hosts = static_cast<std::uint16_t>(2 + (shape >> 6) * 2);
    spec.fingerprint = shape;
    spec.counter = test::valid_counter(kind, spec.hosts);
    if (kind == wire::CanaryKind::result || kind == wire::CanaryKind::restoration ||
        kind == wire::CanaryKind::release) {
      spec.destination = self.address;
      spec.switch_address = self.id;
      spec.children = 1u << spec.ingress;
      spec.child_mac = spec.source_mac;
      spec.ip_source = test::CanarySpec{}.destination;
    }
    return spec;
  }

  PacketPtr make(wire::CanaryKind kind) {
    const auto spec = spec_of(kind);
    const auto elements = input_.next() % 16u;
    const std::byte value{input_.next()};
    const std::vector<std::byte> payload(
        test::is_without_payload(kind) ? 0 : wire::element_bytes(spec.type) * elements, value);
    return test::make_canary(pool_, spec, payload);
  }

  // Some bytes changed, the length as well, and the CRC right again or not.
  PacketPtr tampered(bool sealed) {
    auto packet = make(static_cast<wire::CanaryKind>(1 + input_.next() % 7));
    if (packet == nullptr) {
      return packet;
    }
    for (auto changes = input_.next() % 8; changes > 0; --changes) {
      packet->data()[input_.next() % packet->length] = std::byte{input_.next()};
    }
    if (const auto cut = input_.next(); (cut & 1) != 0) {
      packet->length -= cut % packet->length;
    }
    if (sealed) {
      test::reseal(*packet);
    }
    return packet;
  }

  void feed(PacketPtr packet) {
    if (packet != nullptr && canary::engine_kind.protocol.claims(engine::parse_frame(*packet))) {
      hold(harness_.process(std::move(packet), now_));
    }
  }

  // What left comes in again, as from the next switch.
  void feed_back() {
    if (held_.empty()) {
      return;
    }
    auto packet = std::move(held_.back());
    held_.pop_back();
    packet->ingress = input_.next() & 7u;
    feed(std::move(packet));
  }

  void hold(std::vector<test::Sent> departures) {
    for (auto& departure : departures) {
      check(departure);
      held_.push_back(std::move(departure.packet));
    }
    if (held_.size() > held_max) {
      held_.erase(held_.begin(), held_.end() - held_max);
    }
  }

  // Whatever leaves is a whole packet that the next switch takes.
  static void check(const test::Sent& departure) {
    const auto frame = engine::parse_frame(*departure.packet);
    assert(canary::engine_kind.protocol.claims(frame));
    const auto view =
        wire::parse_canary(frame.payload, frame.udp != nullptr ? wire::Encapsulation::udp
                                                               : wire::Encapsulation::ethernet);
    assert(view.error == wire::CanaryError::none);
    assert(departure.port == no_port || departure.port < self.ports);
    static_cast<void>(view);
  }

  void drain() {
    while (engine_.deadline() != never) {
      now_ = std::max(now_, engine_.deadline());
      hold(harness_.expire(now_));
      assert(harness_.ledger.balanced());
    }
    assert(harness_.figure("descriptors_in_use") == 0);
    assert(engine_.descriptors(now_, 8).empty());
  }

  Input input_;
  HeapPacketPool pool_{packets, 512};
  canary::CanaryEngine engine_{config_of(0x42), self, pool_};
  test::EngineHarness harness_{engine_};
  Time now_{};
  std::vector<PacketPtr> held_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Session(Input({data, size})).run();
  return 0;
}
