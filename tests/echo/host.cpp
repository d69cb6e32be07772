// SPDX-License-Identifier: BSD-3-Clause
// Every rank sends its vector to every other one, in a packet, and adds up what it hears.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "echo/echo.h"
#include "host/machine_carrier.h"
#include "host/payload.h"
#include "host/protocol.h"
#include "host/socket_preparation.h"
#include "reduce/kernel.h"

namespace tributary::echo {
namespace {

constexpr host::Algorithm known_as[] = {{"echo"}};

constexpr host::Parameter parameters[] = {
    {.name = "echo_port", .otherwise = "17900", .agreed = true, .least = 1, .most = 65535},
};

// A packet goes by UDP, with the number of the collective in front of the vector.
struct [[gnu::packed]] RankHeader {
  wire::be32 round;
};
constexpr std::uint32_t headers_bytes = host::udp_headers_bytes + sizeof(RankHeader);

struct EchoStatistics {
  std::uint64_t vectors_received = 0;
};
ProtocolStatistics figures_of(const EchoStatistics& of) {
  return {"echo", {{"vectors_received", of.vectors_received}}, {}};
}

// Nothing may be lost: it would be missed until the deadline.
class EchoMachine final : public host::Machine {
 public:
  explicit EchoMachine(host::Job job) : job_(std::move(job)) {}

  void begin(const host::Call& call, host::Time now, const host::Deadline& deadline) override {
    call_ = call;
    deadline_ = deadline;
    deadline_.begin(now);
    forget_failure();
    mine_.assign(call.buffers.in, call.buffers.in + call.buffers.bytes());
    ++round_;
    next_ = 0;
    running_ = true;
  }
  void skip(const host::Call& /*call*/) override {}
  void abandon() override { running_ = false; }

  void receive(std::span<const host::Arrival> burst, host::Time /*now*/) override {
    for (const auto& arrival : burst) {
      wire::Cursor cursor(arrival.bytes);
      if (const auto* header = cursor.take<RankHeader>()) {
        const auto vector = cursor.rest();
        heard_[header->round.value()].emplace_back(vector.begin(), vector.end());
        ++statistics_.vectors_received;
      }
    }
    finish_if_complete();
  }
  void poll(host::Outbox& outbox, host::Time /*now*/) override {
    for (; running_ && next_ < job_.world_size() && !outbox.full(); ++next_) {
      if (next_ != job_.rank) {
        outbox.push(job_.peers[next_], RankHeader{wire::be32{round_}}, mine_);
      }
    }
    finish_if_complete();
  }
  host::Time deadline() const override { return running_ ? deadline_.due() : host::never; }
  void expire(host::Time now) override {
    if (running_ && deadline_.passed(now)) {
      failure_ = Error{Error::Code::timeout, with_trouble(deadline_.explain("allreduce"))};
      running_ = false;
    }
  }

  bool running() const override { return running_; }
  bool retaining() const override { return false; }
  const host::Job& job() const override { return job_; }
  const EchoStatistics& statistics() const { return statistics_; }

 private:
  void finish_if_complete() {
    if (!running_ || next_ < job_.world_size() || heard_[round_].size() + 1 < job_.world_size()) {
      return;
    }
    const auto& [in, out, count, type, op] = call_.buffers;
    const auto& kernel = reduce::kernel(type, op);
    std::vector<std::byte> sum(count * kernel.accumulator_bytes);
    kernel.load(sum.data(), mine_.data(), count);
    for (const auto& vector : heard_[round_]) {
      kernel.accumulate(sum.data(), vector.data(), vector.size() == mine_.size() ? count : 0);
    }
    kernel.store(out, sum.data(), count);
    heard_.erase(round_);
    running_ = false;
  }

  host::Job job_;
  host::Call call_;
  host::Deadline deadline_;
  std::vector<std::byte> mine_;
  std::map<std::uint32_t, std::vector<std::vector<std::byte>>> heard_;  // by collective
  std::uint32_t round_ = 0;
  std::uint32_t next_ = 0;  // rank to send to
  bool running_ = false;
  EchoStatistics statistics_;
};

class EchoCarrier final : public host::MachineCarrier<EchoMachine> {
 public:
  EchoCarrier(const host::Job& job, host::UringTransport transport,
              const CommunicatorOptions& options)
      : MachineCarrier(std::make_unique<EchoMachine>(job), std::move(transport), options,
                       headers_bytes) {}

  Result<host::Choice> find_out(host::Ring& ring, const host::Deadline& until) override {
    return host::look(runner(), ring, {4}, until)
        .and_then([&](const host::Observation& seen) -> Result<host::Choice> {
          const auto start = host::who(options(), machine().job().id);
          if (seen.failed != 0) {
            return host::fall_back(options(), start, host::why_not("no echo for", seen), "");
          }
          return host::Choice{"echo", start + "echo"};
        });
  }
  bool takes(const host::Call& call) const override {
    return call.collective == host::Collective::allreduce &&
           call.buffers.bytes() <= machine().job().payload_bytes;
  }
};

std::uint16_t port_of(const CommunicatorOptions& options) {
  return static_cast<std::uint16_t>(
      host::Values(options.parameters, parameters).number("echo_port"));
}

Result<std::unique_ptr<host::Preparation>> prepare(const CommunicatorOptions& options,
                                                   const host::Place& place) {
  auto opened = host::open_udp_socket(0);
  if (!opened) {
    return tl::make_unexpected(opened.error());
  }
  host::DatagramSocket socket{.fd = std::move(*opened), .local = {place.address, port_of(options)}};
  if (!host::bind_to(socket.fd.get(), socket.local)) {
    return fail(Error::Code::network, "the port of echo is taken");
  }
  socket.receive_buffer_bytes = host::enlarge_buffers(socket.fd.get());
  host::Offer offer;
  offer.payload_bytes = host::payload_bytes_behind(headers_bytes, place.mtu);
  offer.window = 1;
  return host::prepare_socket(
      std::move(socket), offer, [&options](const host::Meeting& meeting, auto transport) {
        return std::make_unique<EchoCarrier>(meeting.job, std::move(transport), options);
      });
}

}  // namespace

extern const host::HostProtocol host_protocol;
constexpr host::HostProtocol host_protocol{.name = "echo",
                                           .algorithms = known_as,
                                           .parameters = parameters,
                                           .udp_ports = {udp_port, udp_port},
                                           .prepare = prepare};

}  // namespace tributary::echo
