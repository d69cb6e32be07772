// SPDX-License-Identifier: BSD-3-Clause
// `tributary-pktgen echo`: numbers that have to come back with one more.
#include <cstring>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "echo/echo.h"
#include "traffic/kind.h"
#include "traffic/option_text.h"
#include "wire/checksum.h"

namespace tributary::echo {
namespace {

using traffic::Outbox;

struct [[gnu::packed]] Frame {
  wire::EthernetHeader ethernet;
  wire::Ipv4Header ip;
  wire::UdpHeader udp;
  EchoHeader echo;
};

// The first station of the first port asks, one number after the other.
class EchoTraffic final : public traffic::Traffic {
 public:
  EchoTraffic(wire::Ipv4Address asked, const traffic::Stations& stations,
              const traffic::Neighbours& neighbours, PacketPool& pool)
      : destination_(asked), stations_(stations), neighbours_(neighbours), pool_(pool) {}

  void send(std::size_t most, Time, traffic::Pacer& pacer, Outbox& out) override {
    for (; most > 0 && !closed_ && pacer.ready(); --most) {
      auto packet = pool_.allocate();
      if (packet == nullptr) {
        ++counters_.no_buffer;
        return;
      }
      const auto frame = question(++asked_);
      std::memcpy(packet->data(), &frame, sizeof frame);
      packet->length = sizeof frame;
      pacer.charge(traffic::line_bytes_of(*packet));
      ++counters_.packets;
      ++counters_.begun;
      out[0].push(std::move(packet));
    }
  }
  void receive(PacketList arrivals, std::size_t, Time, Outbox&) override {
    while (const auto packet = arrivals.pop()) {
      const auto* frame = wire::Cursor(std::as_const(*packet).bytes()).take<Frame>();
      if (frame == nullptr || frame->udp.source_port.value() != udp_port) {
        ++counters_.foreign;
        continue;
      }
      wrong_ += frame->echo.number.value() == ++answered_ + 1 ? 0 : 1;
      ++counters_.done;
    }
  }
  void expire(Time, Outbox&) override {}
  Time deadline() const override { return never; }
  std::uint64_t under_way() const override { return asked_ - answered_; }
  void begin_epoch() override { counters_ = {}; }
  void close() override { closed_ = true; }
  const traffic::Counters& counters() const override { return counters_; }
  const traffic::Histogram& latency() const override { return latency_; }
  std::uint64_t wrong() const override { return wrong_; }
  std::vector<traffic::Figure> figures() const override { return {}; }

 private:
  Frame question(std::uint32_t number) const {
    Frame frame{};
    frame.ethernet.source = stations_.mac(0, 0);
    frame.ethernet.destination = neighbours_.next_hop(0, stations_.mac(0, 0));
    frame.ethernet.type = wire::ethertype::ipv4;
    frame.ip.protocol = wire::ip_protocol::udp;
    frame.ip.total_length = static_cast<std::uint16_t>(sizeof frame - sizeof frame.ethernet);
    frame.ip.source = stations_.address(0, 0);
    frame.ip.destination = destination_;
    wire::finish_ipv4(frame.ip);
    frame.udp.source_port = std::uint16_t{1024};
    frame.udp.destination_port = udp_port;
    frame.udp.length = static_cast<std::uint16_t>(sizeof frame.udp + sizeof frame.echo);
    frame.echo.number = number;
    return frame;
  }

  wire::Ipv4Address destination_;
  const traffic::Stations& stations_;
  const traffic::Neighbours& neighbours_;
  PacketPool& pool_;
  bool closed_ = false;
  std::uint32_t asked_ = 0;
  std::uint32_t answered_ = 0;
  std::uint64_t wrong_ = 0;
  traffic::Counters counters_;
  traffic::Histogram latency_;
};

class EchoKind final : public traffic::TrafficKind {
 public:
  const char* name() const override { return "echo"; }
  const char* about() const override { return "numbers that come back with one more"; }
  const char* unit() const override { return "questions"; }
  bool checks_results() const override { return true; }
  void declare(CLI::App& app, traffic::Mode) override {
    app.add_option("--switch", text_, "IPv4 address that is asked")->required();
  }
  void interpret(traffic::Conditions&) override {
    asked_ = traffic::value_of("--switch", control::parse_ipv4(text_));
  }
  std::size_t senders(std::size_t) const override { return 1; }
  nlohmann::ordered_json settings() const override { return nlohmann::ordered_json::object(); }
  std::unique_ptr<traffic::Traffic> make(const traffic::Stations& stations,
                                         const traffic::Neighbours& neighbours,
                                         PacketPool& pool) const override {
    return std::make_unique<EchoTraffic>(asked_, stations, neighbours, pool);
  }
  void feed(const traffic::Stations&, PacketPool&, const traffic::FileSink&) const override {}

 private:
  std::string text_;
  wire::Ipv4Address asked_;
};

}  // namespace

std::unique_ptr<traffic::TrafficKind> traffic_kind() {
  return std::make_unique<EchoKind>();
}

}  // namespace tributary::echo
