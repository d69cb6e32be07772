// SPDX-License-Identifier: BSD-3-Clause
#include "host/roce/requester.h"

#include <algorithm>
#include <cassert>

#include "wire/key.h"

namespace tributary::host::roce {
namespace {

constexpr auto not_ready_pause = std::chrono::milliseconds(10);

// The kinds of an acknowledgement's syndrome (9.7.5.1.2).
constexpr std::uint8_t kind_mask = 0x60;
constexpr std::uint8_t kind_acknowledged = 0x00;
constexpr std::uint8_t kind_not_ready = 0x20;

constexpr wire::RoceOpcode opcode_of(bool first, bool last) {
  if (first) {
    return last ? wire::RoceOpcode::write_only_immediate : wire::RoceOpcode::write_first;
  }
  return last ? wire::RoceOpcode::write_last_immediate : wire::RoceOpcode::write_middle;
}

}  // namespace

void Requester::post(const Write& write) {
  assert(!write.bytes.empty());
  const auto packets = (write.bytes.size() + mtu_ - 1) / mtu_;
  posted_.push_back({write, end_, packets});
  end_ += packets;
}

const Requester::Posted& Requester::posted_with(std::uint64_t packet) const {
  const auto behind =
      std::upper_bound(posted_.begin(), posted_.end(), packet,
                       [](std::uint64_t wanted, const Posted& one) { return wanted < one.first; });
  return *std::prev(behind);
}

void Requester::poll(Outbox& outbox, Time now) {
  while (!failure_ && next_ < end_ && next_ - acknowledged_ < limit_ && now >= paused_until_ &&
         !outbox.full()) {
    send_next(outbox, now);
  }
}

// The last packet before a pause asks, so that the pause ends.
bool Requester::asks_for_acknowledgement(const Posted& posted) const {
  return next_ + 1 == posted.first + posted.packets || next_ + 1 - acknowledged_ >= limit_ ||
         next_ % tuning_.acknowledge_every == 0;
}

void Requester::send_next(Outbox& outbox, Time now) {
  const auto& posted = posted_with(next_);
  const auto offset = (next_ - posted.first) * mtu_;
  const bool first = next_ == posted.first;
  const bool last = next_ + 1 == posted.first + posted.packets;
  wire::RethHeader reth;
  reth.address = posted.write.address;
  reth.key = posted.write.key;
  reth.length = static_cast<std::uint32_t>(posted.write.bytes.size());
  wire::ImmediateHeader immediate;
  immediate.data = posted.write.immediate;
  Sending sending;
  sending.bth.opcode = opcode_of(first, last);
  sending.bth.psn = psn_of(next_);
  sending.reth = first ? &reth : nullptr;
  sending.immediate = last ? &immediate : nullptr;
  sending.payload = posted.write.bytes.subspan(
      offset, std::min<std::size_t>(mtu_, posted.write.bytes.size() - offset));
  const bool asks = asks_for_acknowledgement(posted);
  if (asks) {
    sending.bth.acknowledge = wire::BthHeader::acknowledge_bit;
  }
  send(outbox, path_, sending);
  ++statistics_.packets_sent;
  statistics_.retransmissions_sent += next_ < sent_ ? 1 : 0;
  statistics_.bytes_sent += sending.payload.size();
  if (next_ == acknowledged_) {
    timer_from_ = now;
  }
  if (asks && !timed_ && next_ >= sent_) {
    timed_ = next_;
    timed_at_ = now;
  }
  ++next_;
  sent_ = std::max(sent_, next_);
}

void Requester::take(const Reply& reply, Time now) {
  const auto ahead = wire::psn_distance(psn_of(acknowledged_), reply.psn);
  if (failure_ || ahead > sent_ - acknowledged_) {
    return;  // late, or about what was never sent
  }
  const auto packet = acknowledged_ + ahead;
  if ((reply.aeth.syndrome & kind_mask) == kind_acknowledged) {
    ++statistics_.acknowledgements_received;
    if (packet < sent_) {
      advance_to(packet + 1, now);
    }
    return;
  }
  const auto on_the_way = static_cast<std::uint32_t>(next_ - acknowledged_);
  advance_to(packet, now);  // all before the one that is refused have come
  if ((reply.aeth.syndrome & kind_mask) == kind_not_ready) {
    paused_until_ = now + not_ready_pause;
    go_back(now);
  } else if (reply.aeth.syndrome == wire::AethHeader::nak_sequence_error) {
    ++statistics_.sequence_errors_received;
    slow_down(on_the_way, now);
    go_back(now);
  } else if (reply.aeth.is_nak()) {
    refused(reply.aeth.syndrome);
  }
}

void Requester::refused(std::uint8_t syndrome) {
  constexpr std::uint8_t invalid_request = 0x61;
  constexpr std::uint8_t access_error = 0x62;
  const auto* const why = syndrome == invalid_request ? "invalid request"
                          : syndrome == access_error  ? "remote access error"
                                                      : "remote operational error";
  failure_ = to_string(path_.there.endpoint.ip()) + " refuses what it is sent: " + why;
}

void Requester::advance_to(std::uint64_t packet, Time now) {
  if (packet <= acknowledged_) {
    return;
  }
  if (timed_ && *timed_ < packet) {
    rtt_.sample(now - timed_at_);
    timed_.reset();
  }
  const auto count = static_cast<std::uint32_t>(packet - acknowledged_);
  if (limit_ < threshold_) {
    limit_ = std::min(limit_ + count, threshold_);
  } else if (credit_ += count; credit_ >= limit_) {
    credit_ = 0;
    limit_ = std::min(limit_ + 1 + limit_ / 16, limit_max);
  }
  acknowledged_ = packet;
  next_ = std::max(next_, packet);
  timer_from_ = now;
  expirations_ = 0;
  while (!posted_.empty() && posted_.front().first + posted_.front().packets <= acknowledged_) {
    posted_.pop_front();
    ++completed_;
  }
}

void Requester::go_back(Time now) {
  next_ = acknowledged_;
  timer_from_ = now;
  timed_.reset();
}

// Halves what is sent ahead, which otherwise grows additively, but once in a round trip: all
// packets that are on the way tell of the same queue.
void Requester::slow_down(std::uint32_t on_the_way, Time now) {
  if (on_the_way == 0 || now - slowed_down_at_ < rtt_.smoothed()) {
    return;  // nothing of this rank's is in that queue any more, or it was heeded already
  }
  slowed_down_at_ = now;
  limit_ = threshold_ = std::max(std::min(limit_, on_the_way) / 2, 1u);
  credit_ = 0;
}

void Requester::take_congestion_notification(Time now) {
  ++statistics_.congestion_notifications_received;
  slow_down(static_cast<std::uint32_t>(next_ - acknowledged_), now);
}

Time Requester::deadline() const {
  if (idle()) {
    return never;
  }
  if (next_ == acknowledged_) {
    return paused_until_;
  }
  return timer_from_ + patience();
}

// What is repeated waits less by a share that differs from one connection and time to the next:
// connections in step would overflow the same queue each time.
Duration Requester::patience() const {
  const auto wait = rtt_.timeout(expirations_);
  if (expirations_ == 0) {
    return wait;
  }
  const auto draw = wire::mix_key(
      static_cast<std::uint64_t>(timer_from_.time_since_epoch().count()), path_.here.qp);
  return wait - wait / Tuning::spread / 1024 * static_cast<Duration::rep>(draw % 1024);
}

// Most likely a rank is late, and nothing is lost: one packet asks, the others follow its answer.
void Requester::expire(Time now) {
  if (idle() || next_ == acknowledged_ || now < deadline()) {
    return;
  }
  ++statistics_.timeouts;
  if (++expirations_ > tuning_.retries_max) {
    failure_ = to_string(path_.there.endpoint.ip()) + " did not acknowledge packet " +
               std::to_string(psn_of(acknowledged_)) + ", sent " + std::to_string(expirations_) +
               " times";
    return;
  }
  if (expirations_ == 1) {
    threshold_ = std::min(limit_, static_cast<std::uint32_t>(sent_ - acknowledged_));
  }
  limit_ = 1;
  credit_ = 0;
  go_back(now);
}

}  // namespace tributary::host::roce
