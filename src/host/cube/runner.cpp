// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/runner.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <utility>

#include "host/cube/endings.h"
#include "host/ring/connections.h"
#include "host/text.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

constexpr std::size_t burst_bytes = 262144;  // per system call
// A rank waits so long for those who know better who is late: a neighbour of that one tells.
constexpr std::chrono::milliseconds hearsay_patience{500};
// Telling neighbours of a failure may take so long, where they are behind or have no processor.
constexpr std::chrono::seconds failure_patience{2};
// The end of a call that somebody cut short is promised within a second.
constexpr std::chrono::milliseconds cut_patience{500};
// A neighbour may know so much later why a ring broke: it may have to hear that itself before.
constexpr std::chrono::seconds explanation_patience{3};

std::size_t grain_of(const Job& job, const Buffers& buffers) {
  return wire::is_handler(buffers.op) ? job.payload_bytes / wire::element_bytes(buffers.type) : 1;
}

bool is_transient(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

struct CubeRunner::Exchange {
  Exchange(const Call& call, const CubeLayout& layout, const Job& job, std::uint32_t sequence,
           std::vector<CubeLink>& links)
      : mine(RingAnnouncement::of(RingAnnouncement::Kind::allreduce, call.buffers, 0)),
        schedule(call.buffers, layout, grain_of(job, call.buffers)) {
    mine.sequence = sequence;
    for (std::size_t stream = 0; stream < schedule.streams(); ++stream) {
      writers.emplace_back(schedule, stream, mine);
      readers.emplace_back(schedule, stream, mine, links[stream].header);
    }
  }

  bool all_joined() const { return std::ranges::all_of(readers, &CubeReader::joined); }
  bool finished() const {
    return schedule.finished() && std::ranges::all_of(writers, &CubeWriter::finished) &&
           all_joined();
  }

  // Returns what goes to each neighbour, so that it knows why.
  std::vector<std::vector<std::byte>> endings(const Error& why) {
    std::vector<std::vector<std::byte>> all;
    for (auto& writer : writers) {
      all.push_back(writer.ending(why));
    }
    return all;
  }

  RingAnnouncement mine;
  CubeSchedule schedule;
  std::deque<CubeWriter> writers;  // by stream
  std::deque<CubeReader> readers;
};

CubeRunner::CubeRunner(Job job, const CubeLayout& layout, std::vector<CubeInterface> interfaces,
                       std::vector<std::vector<Endpoint>> all)
    : job_(std::move(job)),
      layout_(layout),
      interfaces_(std::move(interfaces)),
      all_(std::move(all)),
      traffic_(interfaces_.size()) {}

Result<void> CubeRunner::connect(Time until) {
  ++attempts_;
  return connect_links(ends(), until).map([this](std::vector<CubeLink> links) {
    links_ = std::move(links);
  });
}

Result<void> CubeRunner::run(const Call& call, Deadline until) {
  if (!broken_.empty()) {
    return fail(
        Error::Code::network,
        "the connections of this communicator are closed since an earlier error: " + broken_);
  }
  for (const auto& link : links_) {
    if (link.has_ended) {
      const auto why = broken(ends(), link, "it has ended there");
      broken_ = why.message;
      tell({links_.size(), failure_frame(why)}, failure_patience);
      return tl::make_unexpected(why);
    }
  }
  until.begin(Clock::now());
  Exchange exchange(call, layout_, job_, sequence_++, links_);
  auto done = drive(exchange, until);
  count(exchange);
  if (!done) {
    broken_ = done.error().message;
    const bool is_cut = until.is_cut_short() && until.passed(Clock::now());
    tell(exchange.endings(done.error()), is_cut ? cut_patience : failure_patience);
  }
  return done;
}

Result<void> CubeRunner::hear() {
  if (!broken_.empty()) {
    return {};
  }
  auto sound = hear_neighbours().and_then([this] { return look_at_links(); });
  if (!sound) {
    broken_ = sound.error().message;
    tell({links_.size(), failure_frame(sound.error())}, failure_patience);
  }
  return sound;
}

Result<void> CubeRunner::hear_neighbours() {
  for (auto& link : links_) {
    if (auto told = told_failure(link)) {
      return tl::make_unexpected(std::move(*told));
    }
  }
  return {};
}

Error CubeRunner::explain(const Error& why) {
  constexpr auto interval = std::chrono::milliseconds(10);
  const auto until = Clock::now() + explanation_patience;
  const auto ended = [](const CubeLink& link) { return link.has_ended; };
  while (broken_.empty()) {
    if (auto sound = hear(); !sound) {
      return sound.error();
    }
    if (std::ranges::any_of(links_, ended) || Clock::now() >= until) {
      break;
    }
    std::this_thread::sleep_for(interval);
  }
  return why;
}

Result<void> CubeRunner::drive(Exchange& exchange, Deadline& until) {
  auto look = Clock::now() + Deadline::look_interval;
  for (;;) {
    bool moved = false;
    for (std::size_t link = 0; link < links_.size(); ++link) {
      auto done = send_some(exchange, link, moved).and_then([&] {
        return receive_some(exchange, link, moved);
      });
      if (!done) {
        return done;
      }
    }
    if (exchange.finished()) {
      return {};
    }
    const auto now = Clock::now();
    if (moved) {
      until.progress(now);
    }
    const bool listens = exchange.all_joined() && !until.is_cut_short();
    if (until.passed(now - (listens ? hearsay_patience : Duration{}))) {
      return tl::make_unexpected(lateness_of(exchange, until));
    }
    if (now >= look) {
      if (auto sound = look_at_links(); !sound) {
        return sound;
      }
      look = now + Deadline::look_interval;
    }
    if (!moved) {
      await(exchange, until.passed(now) ? look : std::min(look, until.due()));
    }
  }
}

// A neighbour that has gone may have said why before.
Result<void> CubeRunner::send_some(Exchange& exchange, std::size_t link, bool& moved) {
  auto& writer = exchange.writers[link];
  const auto [control, elements] = writer.sendable();
  const auto burst = elements.first(std::min(elements.size(), burst_bytes));
  if (control.empty() && burst.empty()) {
    return {};
  }
  iovec parts[2] = {{const_cast<std::byte*>(control.data()), control.size()},
                    {const_cast<std::byte*>(burst.data()), burst.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const auto n = ::sendmsg(links_[link].fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) {
    writer.sent(static_cast<std::size_t>(n));
    moved = true;
    return {};
  }
  if (is_transient(errno)) {
    return {};
  }
  const auto why = errno_text("send");
  for (bool heard = true; heard;) {
    heard = false;
    if (auto told = receive_some(exchange, link, heard); !told) {
      return told;
    }
  }
  return tl::make_unexpected(broken(ends(), links_[link], why));
}

Result<void> CubeRunner::receive_some(Exchange& exchange, std::size_t link, bool& moved) {
  auto& reader = exchange.readers[link];
  const auto in = reader.receivable();
  if (in.empty() || links_[link].has_ended) {
    return {};
  }
  const auto n =
      ::recv(links_[link].fd.get(), in.data(), std::min(in.size(), burst_bytes), MSG_DONTWAIT);
  if (n > 0) {
    moved = true;
    return reader.received(static_cast<std::size_t>(n), rank_text(links_[link].to.rank));
  }
  if (n < 0 && is_transient(errno)) {
    return {};
  }
  const auto why = n == 0 ? "it has ended there" : errno_text("receive");
  links_[link].has_ended = reader.has_all();  // it has done its part
  return links_[link].has_ended ? Result<void>()
                                : tl::make_unexpected(broken(ends(), links_[link], why));
}

void CubeRunner::await(Exchange& exchange, Time until) const {
  std::vector<pollfd> entries;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    const auto [control, elements] = exchange.writers[link].sendable();
    const bool sends = !control.empty() || !elements.empty();
    const bool receives = !exchange.readers[link].receivable().empty() && !links_[link].has_ended;
    if (sends || receives) {
      const int events = (sends ? POLLOUT : 0) | (receives ? POLLIN : 0);
      entries.push_back({links_[link].fd.get(), static_cast<short>(events), 0});
    }
  }
  ::poll(entries.data(), entries.size(), poll_timeout(until));
}

Result<void> CubeRunner::look_at_links() const {
  for (const auto& link : links_) {
    if (auto failure = failure_of(ends(), link)) {
      return tl::make_unexpected(std::move(*failure));
    }
  }
  return {};
}

// Names the first neighbour that is not there, or else of whom something is missing.
Error CubeRunner::lateness_of(const Exchange& exchange, const Deadline& until) const {
  const auto& schedule = exchange.schedule;
  const auto over = [&](std::size_t link) {
    return " over " + text_of(interfaces_[links_[link].to.interface]);
  };
  std::string missing;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    const auto who = rank_text(links_[link].to.rank);
    if (!exchange.readers[link].joined()) {
      missing = who + " did not join this collective" + over(link);
      break;
    }
    if (missing.empty() && schedule.bytes_received(link) != schedule.bytes_expected(link)) {
      missing = who + " had sent " + std::to_string(schedule.bytes_received(link)) + " of " +
                std::to_string(schedule.bytes_expected(link)) + " bytes" + over(link);
    }
  }
  return {Error::Code::timeout, rank_text(job_.rank) + ": " +
                                    until.explain(name(Collective::allreduce)) +
                                    (missing.empty() ? "" : ": " + missing) + lateness};
}

// Tells the neighbours, but for those that can hear nothing.
void CubeRunner::tell(const std::vector<std::vector<std::byte>>& endings, Duration patience) {
  std::vector<CubeEnding> audible;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    if (is_running(interfaces_[links_[link].to.interface])) {
      audible.push_back({links_[link].fd.get(), endings[link]});
    }
  }
  send_endings(std::move(audible), Clock::now() + patience);
}

void CubeRunner::count(const Exchange& exchange) {
  for (std::size_t link = 0; link < links_.size(); ++link) {
    auto& traffic = traffic_[links_[link].to.interface];
    traffic.bytes_sent += exchange.schedule.bytes_sent(link);
    traffic.bytes_received += exchange.schedule.bytes_received(link);
  }
}

}  // namespace tributary::host
