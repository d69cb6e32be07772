// SPDX-License-Identifier: BSD-3-Clause
// The traffic is questions to a switch, and a look at its answers.
#include <cstring>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "echo/echo.h"
#include "engine/frame.h"
#include "support/frames.h"
#include "traffic/kind.h"

namespace tributary::echo {
namespace {

// A unit is a question, done when its answer is there.
class EchoTraffic final : public traffic::Traffic {
 public:
  EchoTraffic(std::uint32_t added, const traffic::Stations& stations,
              const traffic::Neighbours& neighbours, PacketPool& pool)
      : added_(added), stations_(stations), neighbours_(neighbours), pool_(pool) {}

  void send(std::size_t most, Time, traffic::Pacer& pacer, traffic::Outbox& out) override {
    for (; most > 0 && !is_closed() && pacer.ready(); --most) {
      auto packet = question(asked_++);
      charge(*packet, pacer);
      ++counters_.begun;
      out[0].push(std::move(packet));
    }
  }
  void receive(PacketList arrivals, std::size_t, Time, traffic::Outbox&) override {
    while (const auto packet = arrivals.pop()) {
      const auto frame = engine::parse_frame(*packet);
      const auto* header = wire::Cursor(frame.payload).take<EchoHeader>();
      const auto number = answered_++;  // nothing is lost or overtaken
      const bool right = header != nullptr && header->number.value() == number + added_;
      wrong_ += right ? 0 : 1;
      ++(number < first_ ? counters_.late : counters_.done);
    }
  }
  std::uint64_t under_way() const override { return counters_.begun - counters_.done; }
  std::vector<traffic::Figure> figures() const override { return {}; }

 private:
  void epoch_begins() override { first_ = asked_; }
  PacketPtr question(std::uint32_t number) const {
    const auto self = stations_.mac(0, 0);
    const test::Endpoints ends{self, neighbours_.next_hop(0, self), stations_.address(0, 0),
                               test::Ip(10, 0, 0, 1)};
    auto packet = test::make_udp(pool_, ends, 1234, udp_port, sizeof(EchoHeader));
    const EchoHeader header{wire::be32{number}};
    std::memcpy(test::l4_of(*packet).data() + sizeof(wire::UdpHeader), &header, sizeof header);
    return packet;
  }

  std::uint32_t added_;
  const traffic::Stations& stations_;
  const traffic::Neighbours& neighbours_;
  PacketPool& pool_;
  std::uint32_t asked_ = 0;
  std::uint32_t answered_ = 0;
  std::uint32_t first_ = 0;  // first question of the epoch
};

class EchoTrafficKind final : public traffic::TrafficKind {
 public:
  const char* name() const override { return "echo"; }
  const char* about() const override { return "Questions to a switch that answers them"; }
  const char* unit() const override { return "questions"; }
  bool checks_results() const override { return true; }
  std::optional<traffic::UdpPorts> udp_ports() const override {
    return traffic::UdpPorts{"Echo", udp_port, udp_port};
  }

  void declare(CLI::App& app, traffic::Mode) override {
    app.add_option("--added", added_, "that the switch is set to");
  }
  void interpret(traffic::Conditions&) override {}

  double lines(std::size_t) const override { return 1; }
  nlohmann::ordered_json settings() const override { return {{"added", added_}}; }
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& neighbours,
                                         PacketPool& pool) const override {
    return std::make_unique<EchoTraffic>(added_, stations, neighbours, pool);
  }
  void feed(const traffic::Feed&) const override {}

 private:
  std::uint32_t added_ = 1;
};

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<EchoTrafficKind>();
}

}  // namespace tributary::echo
