// SPDX-License-Identifier: BSD-3-Clause
// The Flare engines of a switch of two cores, fed with a sequence of packets and time steps. An
// input is a list of commands of a few bytes each; trees, runs, blocks and buffers are few, so that
// they meet. The highest bit of a command makes it one with a sparse block, another one has its
// packet come to the core that does not own its block. Elements of dense blocks have a value by
// which each child is known, so that no sum can lack one, or have one twice.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/spreading.h"
#include "input.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/engine.h"
#include "protocols/flare/engine/protocol.h"
#include "support/engine_harness.h"
#include "support/flare_packets.h"

namespace {

using namespace tributary;
using fuzz::Input;

constexpr std::size_t packets = 40;  // so few that copies find no buffer now and then
constexpr std::size_t held_max = 8;
constexpr std::uint8_t trees = 4;
constexpr std::uint32_t window = 3;
constexpr std::uint32_t sparse_window = 1;
constexpr std::uint8_t sparse_command = 0x80;
constexpr std::uint8_t elsewhere_command = 0x40;
constexpr unsigned cores = 2;
constexpr std::size_t span = 96;      // six runs, so that a hash table spills three times
constexpr std::uint64_t far_on = 96;  // where no run begins
constexpr PortIndex parent = 3;

const engine::SwitchIdentity self{42, wire::Ipv4Address{10, 0, 255, 1}, {}, 4, {}, cores};

// A root and a leaf that add in the order of arrival, sparse blocks too, and two that do not.
flare::TreeConfig tree_of(std::uint8_t number) {
  flare::TreeConfig tree;
  tree.job = 1u + number;
  tree.group = wire::Ipv4Address(239, 192, 0, number);
  tree.children = {0, 1, 2};
  tree.window = window;
  tree.reproducible = number >= 2;
  tree.sparse_window = tree.reproducible ? 0 : sparse_window;
  const bool is_root = number % 2 == 0;
  tree.workers_below = 4;
  tree.workers = is_root ? 4 : 8;
  if (!is_root) {
    tree.parent = parent;
  }
  return tree;
}

flare::FlareConfig config_of(std::uint8_t chosen) {
  flare::FlareConfig config;
  for (std::uint8_t number = 0; number < trees; ++number) {
    if ((chosen >> number & 1) != 0) {
      config.trees.push_back(tree_of(number));
    }
  }
  return config;
}

// Of each child three bits, which are enough for bf16, too; in a whole sum each is there once.
constexpr std::uint32_t value_of(PortIndex child) {
  return 1u << 3 * child;
}
constexpr std::uint32_t sum_of_all = value_of(0) + value_of(1) + value_of(2);

// Whether the elements are such values: other types and operators come from damage alone.
bool has_values(const wire::FlareHeader& header) {
  return header.op == wire::Operator::sum && (header.element_type == wire::ElementType::i32 ||
                                              header.element_type == wire::ElementType::bf16);
}
std::uint32_t bits_of(std::uint32_t value, wire::ElementType type) {
  return type == wire::ElementType::bf16
             ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16
             : value;
}

// Gives a dense packet that is intact the value of where it comes from.
void put_values(Packet& packet) {
  const auto frame = engine::parse_frame(packet);
  if (wire::is_flare_sparse(frame.payload)) {
    return;
  }
  const auto view = wire::parse_flare(frame.payload);
  if (view.error != wire::FlareError::none || !has_values(*view.header)) {
    return;
  }
  const bool is_of_child =
      view.header->kind == wire::FlareKind::contribution && packet.ingress < parent;
  const auto value =
      bits_of(is_of_child ? value_of(packet.ingress) : sum_of_all, view.header->element_type);
  const auto bytes = wire::element_bytes(view.header->element_type);
  for (std::size_t at = 0; at < view.payload.size(); at += bytes) {
    std::memcpy(&view.payload[at], &value, bytes);
  }
  wire::seal(*view.header, view.payload);
}

struct Core {
  explicit Core(PacketPool& pool) : engine(config_of(0xf), self, pool), harness(engine, cores) {}

  flare::FlareEngine engine;
  test::EngineHarness harness;
};

class Session {
 public:
  explicit Session(Input input) : input_(input) {}

  void run() {
    while (!input_.empty()) {
      step(input_.next());
      std::uint64_t in_use = 0;
      for (auto& core : cores_) {
        assert(core.harness.ledger.balanced());
        assert(core.engine.stalled(now_, 4).size() <= 4);
        in_use += core.harness.figure("buffers_in_use");
      }
      assert(in_use <= pool_.outstanding());
    }
    drain();
    held_.clear();
  }
  ~Session() {
    reconfigure(0);
    assert(pool_.outstanding() == 0);
  }

 private:
  void step(std::uint8_t command) {
    const bool is_sparse = (command & sparse_command) != 0;
    is_elsewhere_ = (command & elsewhere_command) != 0;
    switch (command % 8) {
      case 0:
        now_ += std::chrono::microseconds(1 << (input_.next() % 28));
        return expire();
      case 1:
        return feed(make(wire::FlareKind::result, is_sparse));
      case 2:
        return feed(tampered(is_sparse));
      case 3:
        return feed_back();
      case 4:
        return reconfigure(input_.next());
      case 5:
        return feed(make(wire::FlareKind::inquiry, is_sparse));
      default:
        return feed(make(wire::FlareKind::contribution, is_sparse));
    }
  }

  PacketPtr make(wire::FlareKind kind, bool is_sparse) {
    return is_sparse ? make_sparse(kind) : make_dense(kind);
  }

  PacketPtr make_dense(wire::FlareKind kind) {
    const auto who = input_.next();
    const auto what = input_.next();
    const auto shape = input_.next();
    const auto tree = tree_of(who & 3u);
    test::FlareSpec spec;
    place(spec, tree, kind, who);
    spec.window = static_cast<std::uint16_t>(tree.window + ((shape >> 2) & 1u));
    spec.block = (what & 15u) + ((what & 0x10) != 0 ? far_on : 0);
    spec.retransmission = (what & 0x20) != 0;
    spec.answer = (what & 0x40) != 0;
    spec.type = (shape & 1) != 0 ? wire::ElementType::bf16 : wire::ElementType::i32;
    spec.fingerprint = spec.ingress + ((shape >> 1) & 1u);
    const unsigned elements = kind == wire::FlareKind::inquiry ? 0 : unsigned{shape} >> 4;
    const std::vector<std::byte> payload(elements * wire::element_bytes(spec.type));
    return test::make_flare(pool_, spec, payload);
  }

  // Of which tree, run and port it is.
  static void place(test::FlareSpec& spec, const flare::TreeConfig& tree, wire::FlareKind kind,
                    std::uint8_t who) {
    spec.kind = kind;
    spec.job = tree.job;
    spec.group = tree.group;
    spec.workers = tree.workers;
    spec.ingress = (who >> 2) & 3u;
    spec.run = (who >> 4) & 3u;
    spec.contributions =
        kind == wire::FlareKind::result ? tree.workers : static_cast<std::uint16_t>(1 + (who >> 6));
  }

  // A shard of up to 15 pairs or elements, in one of four editions.
  PacketPtr make_sparse(wire::FlareKind kind) {
    const auto who = input_.next();
    const auto what = input_.next();
    const auto shape = input_.next();
    const auto number = input_.next();
    const auto tree = tree_of(who & 3u);
    const bool is_inquiry = kind == wire::FlareKind::inquiry;
    const bool is_last = kind == wire::FlareKind::result || (number & 8) != 0;
    test::FlareSparseSpec spec;
    place(spec, tree, kind, who);
    spec.window = static_cast<std::uint16_t>(std::max(tree.sparse_window, 1u) + (what >> 7));
    spec.block = (what & 7u) + ((what & 0x10) != 0 ? far_on : 0);
    spec.retransmission = (what & 0x20) != 0;
    spec.answer = (what & 0x40) != 0;
    spec.span = static_cast<std::uint16_t>(span);
    spec.edition = is_inquiry ? 0 : number >> 6;
    spec.shard = is_inquiry ? 0 : number & 7;
    spec.shards = static_cast<std::uint8_t>(
        is_inquiry || !is_last
            ? 0
            : spec.shard + 1 + (kind == wire::FlareKind::result ? (number >> 3) & 3 : 0));
    spec.contributions = spec.shards == 0 ? 0 : spec.contributions;
    spec.fingerprint = is_inquiry ? 0 : spec.ingress;
    spec.form = (shape & 1) != 0 && !is_inquiry ? wire::FlareForm::run : wire::FlareForm::pairs;
    const std::size_t elements = is_inquiry ? 0 : shape >> 4;
    if (spec.form == wire::FlareForm::run) {
      spec.first = static_cast<std::uint16_t>((shape >> 1 & 7u) * 10u);
      return test::make_flare_sparse(pool_, spec, std::vector<std::byte>(elements * 4));
    }
    return test::make_flare_sparse(pool_, spec, pairs(elements, shape & 0xeu));
  }

  static std::vector<std::byte> pairs(std::size_t count, std::size_t first) {
    constexpr std::size_t pair_bytes = wire::flare_offset_bytes + sizeof(std::int32_t);
    std::vector<std::byte> bytes(count * pair_bytes, std::byte{1});
    for (std::size_t i = 0; i < count; ++i) {
      const auto offset = static_cast<std::uint16_t>((first * 6 + i) % span);
      std::memcpy(&bytes[i * pair_bytes], &offset, sizeof offset);
    }
    return bytes;
  }

  // Some bytes changed, and the CRCs right again or not.
  PacketPtr tampered(bool is_sparse) {
    auto packet = make(static_cast<wire::FlareKind>(1 + input_.next() % 3), is_sparse);
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
      is_sparse ? test::reseal_flare_sparse(*packet) : test::reseal_flare(*packet);
    }
    return packet;
  }

  // To one of the cores, as switching::Owners has it.
  void feed(PacketPtr packet) {
    const auto& protocol = flare::engine_kind.protocol;
    if (packet == nullptr || !protocol.claims(engine::parse_frame(*packet))) {
      return;
    }
    put_values(*packet);
    const auto frame = engine::parse_frame(*packet);
    const auto owner = engine::owner_of(protocol.key(frame), cores);
    if (is_elsewhere_ && protocol.may_gather(frame)) {
      hold(cores_[1 - owner].harness.gather(std::move(packet), now_));
    } else {
      hold(cores_[owner].harness.process(std::move(packet), now_));
    }
    hand_over();
  }
  // What each has for the other.
  void hand_over() {
    for (std::size_t from = 0; from < cores; ++from) {
      auto& to = cores_[1 - from].harness;
      for (auto& packet : cores_[from].harness.passed_on()) {
        hold(to.process(std::move(packet), now_));
      }
      for (auto& sum : cores_[from].harness.partial_sums()) {
        hold(to.merge(std::move(sum), now_));
      }
    }
  }

  void expire() {
    for (auto& core : cores_) {
      hold(core.harness.expire(now_));
    }
    hand_over();
  }
  void reconfigure(std::uint8_t chosen) {
    for (auto& core : cores_) {
      core.engine.reconfigure(config_of(chosen));
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
      check(one);
      held_.push_back(std::move(one.packet));
    }
    if (held_.size() > held_max) {
      held_.erase(held_.begin(), held_.end() - held_max);
    }
  }

  // Whatever leaves is a whole packet of one of the trees, the next switch takes it, and no sum has
  // fewer or more than are below.
  static void check(const test::Sent& sent) {
    const auto frame = engine::parse_frame(*sent.packet);
    assert(flare::engine_kind.protocol.claims(frame));
    assert(sent.port < self.ports);
    if (wire::is_flare_sparse(frame.payload)) {
      const auto view = wire::parse_flare_sparse(frame.payload);
      assert(view.error == wire::FlareError::none);
      check(sent, frame, *view.header, view.payload);
    } else {
      const auto view = wire::parse_flare(frame.payload);
      assert(view.error == wire::FlareError::none);
      check(sent, frame, *view.header, view.payload);
      check_values(*view.header, view.payload);
    }
  }
  static void check_values(const wire::FlareHeader& header, wire::Bytes payload) {
    const auto bytes = wire::element_bytes(header.element_type);
    const auto wanted = bits_of(sum_of_all, header.element_type);
    for (std::size_t at = 0; has_values(header) && at < payload.size(); at += bytes) {
      assert(std::memcmp(&payload[at], &wanted, bytes) == 0);
    }
    static_cast<void>(wanted);
  }
  // Of a sparse contribution the last shard tells.
  static bool ends_sum(const wire::FlareHeader& /*header*/) { return true; }
  static bool ends_sum(const wire::FlareSparseHeader& header) { return header.is_last(); }

  template <typename Header>
  static void check(const test::Sent& sent, const engine::Frame& frame, const Header& header,
                    wire::Bytes payload) {
    assert(header.job.value() >= 1 && header.job.value() <= trees);
    const auto tree = tree_of(static_cast<std::uint8_t>(header.job.value() - 1));
    assert(frame.ipv4->destination == tree.group);
    assert(sent.port != parent || tree.parent.has_value());
    switch (header.kind) {
      case wire::FlareKind::contribution:
        assert(sent.port == parent);
        assert(!ends_sum(header) || header.contributions.value() == tree.workers_below);
        return;
      case wire::FlareKind::result:
        assert(header.contributions.value() == tree.workers);
        return;
      case wire::FlareKind::inquiry:
      case wire::FlareKind::refusal:
        assert(sent.port != parent && payload.empty());
    }
    static_cast<void>(tree);
    static_cast<void>(payload);
  }

  // All that is silent comes to rest.
  void drain() {
    const auto deadline = [this] {
      return std::min(cores_[0].engine.deadline(), cores_[1].engine.deadline());
    };
    while (deadline() != never) {
      now_ = std::max(now_, deadline());
      expire();
    }
    for (auto& core : cores_) {
      assert(core.harness.figure("buffers_in_use") == 0);
      assert(core.harness.figure("blocks_gathering") == 0);
      assert(core.harness.figure("sparse_blocks_gathering") == 0);
      assert(core.harness.figure("trees_active") == 0);
    }
  }

  Input input_;
  HeapPacketPool pool_{packets, 512};
  std::array<Core, cores> cores_{Core(pool_), Core(pool_)};
  bool is_elsewhere_ = false;
  Time now_{};
  std::vector<PacketPtr> held_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Session(Input({data, size})).run();
  return 0;
}
