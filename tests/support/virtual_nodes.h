// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

#include "support/virtual_fabric.h"
#include "switch/owners.h"

// These stand at the ends of the cables of a virtual fabric.
namespace tributary::test {

// Adds the time that it lives to a sum, if there is one. What lasts too long does not count:
// another process had the processor.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds* sum) : sum_(sum) {
    if (sum_ != nullptr) {
      begin_ = Clock::now();
    }
  }
  ~Stopwatch() {
    if (sum_ != nullptr) {
      const auto lived = Clock::now() - begin_;
      *sum_ += lived < too_long ? lived : std::chrono::nanoseconds{};
    }
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds too_long{1};

  std::chrono::nanoseconds* sum_;
  Clock::time_point begin_{};
};

// A bridge answers under the address of its first bridged port.
inline wire::MacAddress bridge_mac_of(const switching::SwitchConfig& config) {
  return std::ranges::find_if(config.ports, [](const auto& port) { return !port.is_routed(); })
      ->mac;
}

struct VirtualFabric::SwitchNode {
  std::size_t index = 0;
  switching::SwitchConfig config;
  switching::Owners owners;
  std::vector<std::unique_ptr<switching::Switch>> shares;  // one per core
  Ledger handover;  // partial sums that were lost on the way to their core
  std::vector<forwarding::QueueGauge> gauges;  // by port; outlive those who fill and read them
  std::vector<forwarding::PortBuffer> buffers;
  std::vector<forwarding::Port> ports;
  struct Peer {
    std::size_t node = 0;
    PortIndex port = 0;
    bool connected = false;
    bool up = true;
    Time line_free{};  // when the cable has taken all that it was given
  };
  std::vector<Peer> peers;
  PacketList ready;  // arrived since the node was looked at
};

struct VirtualFabric::HostNode {
  std::size_t index = 0;
  HostSpec spec;
  wire::MacAddress mac;
  wire::MacAddress gateway_mac;
  std::size_t switch_index = 0;
  PortIndex port = 0;
  Time silent_until{};
  Time deaf_until{};
  Time line_free{};  // when it has sent what it was given; its workers are asked for more only then
  struct Socket {
    std::uint16_t port;
    Machine* machine;
    std::function<void()> idle;
  };
  std::vector<Socket> sockets;
  host::Outbox outbox{1};
};

}  // namespace tributary::test
