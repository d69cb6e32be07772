// SPDX-License-Identifier: BSD-3-Clause
#include "background.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <sys/socket.h>

#include "background_flows.h"
#include "background_pace.h"
#include "host/transport/address.h"
#include "host/transport/datagram_socket.h"
#include "signals.h"
#include "system/file_descriptor.h"
#include "wire/ethernet.h"
#include "wire/transport.h"

namespace tributary::bench {
namespace {

constexpr std::int64_t tick_ns = 2'000'000;      // 500 wake-ups a second cost about 1 % of a core
constexpr std::int64_t linger_ns = 200'000'000;  // what is under way at the end still counts
constexpr std::size_t batch = 32;

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

Result<FileDescriptor> open_socket(std::uint16_t port) {
  FileDescriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd || !host::bind_to(fd.get(), host::Endpoint{{}, port})) {
    return fail(
        Error::Code::network,
        host::errno_text("cannot bind UDP port " + std::to_string(port)) + "; try another --port");
  }
  host::enlarge_buffers(fd.get());
  return fd;
}

class Sender {
 public:
  explicit Sender(const BackgroundOptions& options)
      : options_(options),
        peers_(options.pattern, options.peers.size(), options.self, options.seed),
        sequences_(options.peers.size()),
        padding_(options.mtu - sizeof(wire::Ipv4Header) - sizeof(wire::UdpHeader) -
                 sizeof(BackgroundHeader)) {
    for (std::size_t i = 0; i < batch; ++i) {
      headers_[i].magic = background_magic;
      headers_[i].sender = static_cast<std::uint32_t>(options.self);
      parts_[i][0] = {&headers_[i], sizeof(BackgroundHeader)};
      parts_[i][1] = {padding_.data(), padding_.size()};
      messages_[i].msg_hdr.msg_iov = parts_[i].data();
      messages_[i].msg_hdr.msg_iovlen = parts_[i].size();
      messages_[i].msg_hdr.msg_name = to_.get();
      messages_[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
    }
  }

  void send(int fd, std::uint64_t packets, BackgroundCounts& counts) {
    while (packets > 0) {
      const std::size_t wanted = choose(std::min<std::uint64_t>(packets, batch), counts);
      for (std::size_t i = 0; i < wanted; ++i) {
        headers_[i].sequence = sequences_[peer_] + i;
      }
      const int done = ::sendmmsg(fd, messages_.data(), static_cast<unsigned>(wanted), 0);
      const std::size_t sent = done > 0 ? static_cast<std::size_t>(done) : 0;
      sequences_[peer_] += sent;
      counts.sent += sent;
      counts.unsent += wanted - sent;
      offered_ += wanted;
      packets -= wanted;
    }
  }

 private:
  // Sets the peer of the next packets, and returns how many of them are for it.
  std::size_t choose(std::uint64_t packets, BackgroundCounts& counts) {
    const std::uint64_t message = options_.message_packets;
    const std::uint64_t turn =
        message > 0 ? offered_ / message
                    : static_cast<std::uint64_t>(now_ns(CLOCK_REALTIME) / options_.period.count());
    if (turn != turn_ || offered_ == 0) {
      turn_ = turn;
      peer_ = peers_.at(turn);
      to_ = host::to_sockaddr({options_.peers[peer_], options_.port});
      ++counts.peer_changes;
    }
    return message > 0 ? std::min(packets, message - offered_ % message) : packets;
  }

  const BackgroundOptions& options_;
  Peers peers_;
  std::vector<std::uint64_t> sequences_;  // by peer
  std::vector<std::byte> padding_;
  std::uint64_t offered_ = 0;
  std::uint64_t turn_ = 0;
  std::size_t peer_ = 0;
  host::SocketName to_;
  std::array<BackgroundHeader, batch> headers_{};
  std::array<std::array<iovec, 2>, batch> parts_{};
  std::array<mmsghdr, batch> messages_{};
};

class Receiver {
 public:
  explicit Receiver(std::size_t senders) : flows_(senders) {
    for (std::size_t i = 0; i < batch; ++i) {
      parts_[i] = {&headers_[i], sizeof(BackgroundHeader)};  // the kernel discards the padding
      messages_[i].msg_hdr.msg_iov = &parts_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  void receive(int fd) {
    // The rounds are bounded, so that a flood from elsewhere does not keep us from sending.
    for (int rounds = 0; rounds < 64; ++rounds) {
      const int count = ::recvmmsg(fd, messages_.data(), batch, MSG_DONTWAIT, nullptr);
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool ours =
            messages_[at].msg_len == sizeof(BackgroundHeader) && flows_.arrived(headers_[at]);
        foreign_ += ours ? 0 : 1;
      }
      if (count < static_cast<int>(batch)) {
        return;
      }
    }
  }

  void report(BackgroundCounts& counts) const {
    counts.received = flows_.packets();
    counts.lost = flows_.lost();
    counts.foreign = foreign_;
  }

 private:
  ArrivedFlows flows_;
  std::uint64_t foreign_ = 0;
  std::array<BackgroundHeader, batch> headers_{};
  std::array<iovec, batch> parts_{};
  std::array<mmsghdr, batch> messages_{};
};

// A signal ends the sleep early.
void sleep_until(std::int64_t when_ns) {
  const timespec when{when_ns / 1'000'000'000, when_ns % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

std::size_t BackgroundOptions::line_bytes() const {
  return mtu + sizeof(wire::EthernetHeader) + wire::ethernet_line_overhead_bytes;
}

Result<BackgroundCounts> run_background(const BackgroundOptions& options) {
  apps::catch_signals();
  const auto socket = open_socket(options.port);
  if (!socket) {
    return tl::unexpected(socket.error());
  }
  BackgroundCounts counts;
  Sender sender(options);
  Receiver receiver(options.peers.size());
  const std::int64_t start = now_ns(CLOCK_MONOTONIC);
  const std::int64_t end = start + options.duration.count();
  Pace pace(options.rate_bps, options.line_bytes(), start);
  std::int64_t now = start;
  for (; now < end && !apps::is_stop_requested(); now = now_ns(CLOCK_MONOTONIC)) {
    sender.send(socket->get(), pace.due(now), counts);
    receiver.receive(socket->get());
    sleep_until(std::min(now + tick_ns, end));
  }
  counts.seconds = static_cast<double>(now - start) * 1e-9;
  for (const std::int64_t last = now + linger_ns; now < last; now = now_ns(CLOCK_MONOTONIC)) {
    sleep_until(now + tick_ns);
    receiver.receive(socket->get());
  }
  receiver.report(counts);
  return counts;
}

}  // namespace tributary::bench
