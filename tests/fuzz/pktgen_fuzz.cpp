// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include "input.h"
#include "packet/pool.h"
#include "protocols/canary/traffic/traffic.h"
#include "traffic/neighbours.h"
#include "traffic/stations.h"

// The generator's aggregation traffic on a line that the input controls: it delivers, drops,
// duplicates, reorders, damages and forges what the workers and leaders send, and puts in frames of
// its own. Nothing may crash, every block ends, no buffer is lost, and as long as nothing was
// forged, no result is wrong.
namespace {

using namespace tributary;
using fuzz::Input;
using namespace tributary::canary;
using namespace tributary::traffic;

enum class Deed : std::uint8_t { send, deliver, drop, duplicate, rotate, forge, insert, wait };
constexpr std::uint8_t deeds = 8;
constexpr std::size_t waiting_max = 64;
constexpr std::size_t packets = 256;
constexpr std::uint32_t frame_bytes_max = 512;

TrafficPlan plan_of(Input& input) {
  TrafficPlan plan;
  const auto shape = input.next();
  plan.encapsulation = (shape & 1) != 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
  plan.workers = static_cast<std::uint16_t>(2 + (shape >> 1 & 3));
  plan.jobs = 2;
  plan.window = 4;
  plan.interleave = 2;
  plan.elements = 9;
  plan.kinds = {{wire::ElementType::f16, wire::Operator::sum},
                {wire::ElementType::i64, wire::Operator::bit_xor}};
  return plan;
}

class Line {
 public:
  explicit Line(Input& input)
      : input_(input),
        plan_(plan_of(input)),
        transport_bytes_(plan_.encapsulation == wire::Encapsulation::udp
                             ? sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader)
                             : 0),
        stations_({{{{2, 0, 0, 0, 0, 1}}, wire::Ipv4Address(10, 0, 0, 1), plan_.workers, {}, {}}}),
        neighbours_(stations_, pool_),
        traffic_(plan_, stations_, neighbours_, pool_),
        out_(stations_.ports()) {
    pacer_.start({}, now_);
    traffic_.begin_epoch();
  }

  void run() {
    while (!input_.empty()) {
      act(static_cast<Deed>(input_.next() % deeds));
      collect();
      check();
    }
  }

  // What is under way ends, although nothing is delivered any more.
  void finish() {
    traffic_.close();
    waiting_.clear();
    send(packets);
    out_[0] = {};
    now_ += 2 * plan_.block_timeout;
    traffic_.expire(now_, out_);
    out_[0] = {};
    check();
    assert(traffic_.under_way() == 0);
    assert(pool_.outstanding() == 0);
  }

 private:
  void act(Deed deed) {
    switch (deed) {
      case Deed::send:
        send(input_.next() % 8);
        break;
      case Deed::insert:
        insert();
        break;
      case Deed::wait:
        now_ += input_.next() * plan_.block_timeout / 64;
        traffic_.expire(now_, out_);
        break;
      default:
        if (!waiting_.empty()) {
          disturb(deed);
        }
    }
  }

  void disturb(Deed deed) {
    switch (deed) {
      case Deed::deliver:
        receive(std::move(waiting_.front()));
        waiting_.pop_front();
        break;
      case Deed::drop:
        waiting_.pop_front();
        break;
      case Deed::duplicate:
        if (waiting_.size() < waiting_max) {
          waiting_.push_back(pool_.clone(*waiting_.front()));
        }
        break;
      case Deed::rotate:
        std::rotate(waiting_.begin(), waiting_.begin() + 1 + input_.next() % waiting_.size() / 2,
                    waiting_.end());
        break;
      default:
        forge(*waiting_.front());
    }
  }

  void send(std::size_t most) {
    pacer_.refresh(now_);
    traffic_.send(most, now_, pacer_, out_);
  }

  void receive(PacketPtr packet) {
    PacketList burst;
    burst.push(std::move(packet));
    traffic_.receive(std::move(burst), 0, now_, out_);
  }

  // The line has room for some packets, and loses what is too many.
  void collect() {
    while (auto packet = out_[0].pop()) {
      if (waiting_.size() < waiting_max) {
        waiting_.push_back(std::move(packet));
      }
    }
  }

  // Cuts a frame, changes a few of its bytes, and makes the CRCs right.
  void forge(Packet& packet) {
    forged_ = true;
    if (const auto cut = input_.next(); cut % 4 == 3) {
      packet.length = std::max<std::uint32_t>(1, packet.length - std::min(packet.length, cut / 4u));
    }
    for (auto changes = input_.next() % 8; changes > 0; --changes) {
      const auto place = input_.next() % packet.length;
      packet.data()[place] = static_cast<std::byte>(input_.next());
    }
    seal(packet);
  }

  void seal(Packet& packet) const {
    wire::MutableCursor cursor(packet.bytes());
    if (!cursor.skip(sizeof(wire::EthernetHeader) + transport_bytes_)) {
      return;
    }
    if (auto* header = cursor.take<wire::CanaryHeader>()) {
      wire::seal(*header, cursor.rest());
    }
  }

  void insert() {
    forged_ = true;
    auto packet = pool_.allocate();
    if (packet == nullptr) {
      return;
    }
    packet->length = 1 + input_.next();
    for (auto& byte : packet->bytes()) {
      byte = static_cast<std::byte>(input_.next());
    }
    receive(std::move(packet));
  }

  void check() const {
    const auto& counters = traffic_.counters();
    assert(counters.done <= counters.begun);
    assert(traffic_.under_way() <= std::uint64_t{plan_.jobs} * plan_.window);
    assert(forged_ || (traffic_.wrong() == 0 && counters.foreign == 0));
  }

  Input& input_;
  TrafficPlan plan_;
  std::size_t transport_bytes_;
  HeapPacketPool pool_{packets, frame_bytes_max};
  Stations stations_;
  Neighbours neighbours_;
  CanaryTraffic traffic_;
  Pacer pacer_;
  Outbox out_;
  std::deque<PacketPtr> waiting_;
  Time now_ = Time{} + std::chrono::seconds(1000);
  bool forged_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  Line line(input);
  line.run();
  line.finish();
  return 0;
}
