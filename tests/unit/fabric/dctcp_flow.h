// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "host/machine.h"
#include "support/virtual_fabric.h"
#include "wire/endian.h"
#include "wire/ipv4.h"

namespace tributary::test {

// One end of a flow of ordinary UDP, which has nothing to do with collectives.
class FlowEnd : public host::Machine {
 public:
  static constexpr std::uint16_t udp_port = 9000;
  static constexpr std::size_t payload_bytes = 1464;  // a frame as large as a full block's

  explicit FlowEnd(const host::Endpoint& other) : other_(other) {}

  void begin(const host::Call&, host::Time, const host::Deadline&) override {}
  void skip(const host::Call&) override {}
  void abandon() override {}
  host::Time deadline() const override { return host::never; }
  void expire(host::Time) override {}
  bool running() const override { return false; }
  bool retaining() const override { return false; }
  const host::Job& job() const override { return job_; }

 protected:
  struct [[gnu::packed]] Header {
    wire::be32 number;
    std::uint8_t marked = 0;  // of an acknowledgment: what it acknowledges was
    std::array<std::uint8_t, 3> unused{};
  };
  void push(const Header& header, std::size_t bytes, host::Outbox& outbox) {
    outbox.push(other_, header, wire::Bytes(payload_).first(bytes));
  }

 private:
  host::Endpoint other_;
  host::Job job_;
  std::array<std::byte, payload_bytes> payload_{};
};

// A sender that always has something to send, in the window of DCTCP (RFC 8257, 3.3) over a network
// without loss.
class DctcpSender final : public FlowEnd {
 public:
  using FlowEnd::FlowEnd;

  void receive(std::span<const host::Arrival> burst, host::Time) override {
    for (const auto& arrival : burst) {
      acknowledge(reinterpret_cast<const Header*>(arrival.bytes.data())->marked != 0);
    }
  }
  void poll(host::Outbox& outbox, host::Time) override {
    while (!outbox.full() && sent_ - acknowledged_ < static_cast<std::uint32_t>(window_)) {
      push({wire::be32{sent_++}}, payload_bytes, outbox);
    }
  }

 private:
  static constexpr double g = 1.0 / 16;

  void acknowledge(bool marked) {
    ++acknowledged_;
    marked_ += marked ? 1 : 0;
    slow_start_ &= !marked;
    window_ += slow_start_ ? 1 : 1 / window_;
    if (acknowledged_ >= round_end_) {
      const auto round = static_cast<double>(acknowledged_ - round_begin_);
      alpha_ += (marked_ / round - alpha_) * g;
      window_ = marked_ == 0 ? window_ : std::max(window_ * (1 - alpha_ / 2), 2.0);
      round_begin_ = acknowledged_;
      round_end_ = sent_;
      marked_ = 0;
    }
  }

  double window_ = 10;
  double alpha_ = 1;
  double marked_ = 0;
  bool slow_start_ = true;
  std::uint32_t sent_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::uint32_t round_begin_ = 0;
  std::uint32_t round_end_ = 0;
};

// Acknowledges each packet, after a delay that makes round trips as long as those of results, which
// are as large as contributions.
class DctcpReceiver final : public FlowEnd {
 public:
  DctcpReceiver(const host::Endpoint& other, Duration delay) : FlowEnd(other), delay_(delay) {}

  host::Time deadline() const override { return owed_.empty() ? host::never : owed_.front().due; }
  void receive(std::span<const host::Arrival> burst, host::Time now) override {
    for (const auto& arrival : burst) {
      auto header = *reinterpret_cast<const Header*>(arrival.bytes.data());
      header.marked = arrival.ecn == wire::ecn::ce ? 1 : 0;
      owed_.push_back({now + delay_, header});
    }
  }
  void expire(host::Time now) override {
    for (; deadline() <= now; owed_.pop_front()) {
      due_.push_back(owed_.front().header);
    }
  }
  void poll(host::Outbox& outbox, host::Time) override {
    for (; !outbox.full() && !due_.empty(); due_.pop_front()) {
      push(due_.front(), 0, outbox);
    }
  }

 private:
  struct Owed {
    host::Time due;
    Header header;
  };
  Duration delay_;
  std::deque<Owed> owed_;
  std::deque<Header> due_;
};

// A flow between two hosts of a fabric.
struct DctcpFlow {
  DctcpFlow(VirtualFabric& fabric, std::size_t from, std::size_t to, Duration delay)
      : sender(fabric.endpoint(to, FlowEnd::udp_port)),
        receiver(fabric.endpoint(from, FlowEnd::udp_port), delay) {
    fabric.attach(from, FlowEnd::udp_port, sender);
    fabric.attach(to, FlowEnd::udp_port, receiver);
  }

  DctcpSender sender;
  DctcpReceiver receiver;
};

}  // namespace tributary::test
