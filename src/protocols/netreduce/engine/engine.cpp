// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/engine.h"

#include <algorithm>
#include <utility>

#include "protocols/netreduce/engine/drop_reasons.h"

namespace tributary::netreduce {
namespace {

// Returns the packets of the message that the first one begins; no value where it does not tell, as
// that of a SEND. The last packet of an RDMA WRITE may be shorter.
std::optional<std::uint32_t> packets_of(const RocePacket& roce) {
  const auto bytes = roce.roce.payload.size();
  if (roce.roce.position() == wire::RocePosition::only || bytes == 0) {
    return 1;
  }
  if (roce.roce.reth == nullptr) {
    return std::nullopt;
  }
  return wire::ina_packets(roce.roce.reth->length.value(), static_cast<std::uint32_t>(bytes));
}

}  // namespace

NetReduceEngine::NetReduceEngine(const NetReduceConfig& config, Lane lane) : lane_(lane) {
  reconfigure(config);
}

bool NetReduceEngine::reconfigure(const NetReduceConfig& config) {
  std::vector<std::unique_ptr<Ring>> next;
  for (const auto& wanted : config.rings) {
    const auto old = std::find_if(rings_.begin(), rings_.end(), [&](const auto& ring) {
      return ring != nullptr && ring->config() == wanted;
    });
    next.push_back(old != rings_.end() ? std::move(*old) : std::make_unique<Ring>(wanted));
  }
  rings_ = std::move(next);
  senders_.rebuild(rings_);
  return true;
}

void NetReduceEngine::process(std::span<engine::Arrival> burst, Time now,
                              engine::Actions& actions) {
  const Burst current{now, actions};
  for (auto& arrival : burst) {
    if (lane_ == Lane::off || !continue_message(arrival, current)) {
      handle(arrival, current);
    }
  }
}

// Handles the packet if it is a sound one from the middle of a known gradient message, as most are;
// returns whether it was. Its headers then leave nothing to check that follow() would. Whatever
// else it may be, handle() finds out.
bool NetReduceEngine::continue_message(engine::Arrival& arrival, const Burst& burst) {
  const auto& frame = arrival.frame;
  auto* headers = middle_headers_of(frame);
  const auto [ring, rank] =
      headers != nullptr ? senders_.find(*headers) : ConnectionTable::Sender{};
  if (ring == nullptr) {
    return false;
  }
  // A connection that was released knows no message.
  auto& connection = ring->connection(rank);
  const auto place = connection.find(headers->bth.psn.value());
  if (!place.is_middle() || headers->bth.opcode != middle_opcode(*place.message) ||
      frame.payload.size() != sizeof headers->bth + place.message->mtu + wire::icrc_bytes) {
    return false;
  }
  const auto roce = middle_of(*headers, frame, place.message->mtu);
  const auto headers_icrc =
      check_icrc(*headers, roce.roce.payload, ring->middle_joint(*place.message));
  if (!headers_icrc) {
    return false;
  }
  connection.touch(burst.now);
  aggregate({arrival.packet, frame, roce},
            {*ring, rank, *place.message, place.offset, *headers_icrc}, burst);
  return true;
}

void NetReduceEngine::handle(engine::Arrival& arrival, const Burst& burst) {
  const auto roce = roce_of(arrival.frame);
  if (roce.ip.empty()) {
    return pass(std::move(arrival.packet), arrival.frame, burst);
  }
  const Incoming in{arrival.packet, arrival.frame, roce};
  if (!wire::begins_message(roce.roce.position())) {
    return follow(in, burst);
  }
  const auto* header = wire::peek_ina(roce.roce.payload);
  auto* ring = header != nullptr ? find_ring(header->ring.value()) : nullptr;
  if (ring == nullptr) {
    return begin_ordinary(in, burst);
  }
  begin(in, *header, *ring, burst);
}

void NetReduceEngine::pass(PacketPtr packet, const engine::Frame& frame, const Burst& burst) {
  ++counters_.passed;
  burst.actions.forward(std::move(packet), frame);
}

void NetReduceEngine::begin(Incoming in, const wire::InaHeader& header, Ring& ring,
                            const Burst& burst) {
  // A damaged packet must not get the right ICRC from us.
  const auto headers_icrc =
      check_icrc(in.roce, sizeof header, ring.joint(in.roce.roce.payload.size(), sizeof header));
  if (!headers_icrc) {
    return burst.actions.drop(std::move(in.packet), drop::icrc);
  }
  const Message message{in.roce.psn(),
                        header.message.value(),
                        header.length.value(),
                        header.packets.value(),
                        ring.mtu_of(header, in.roce.roce.payload.size()),
                        header.element_type,
                        header.op,
                        in.roce.is_write()};
  const auto* reth = in.roce.roce.reth;
  if (!ring.admits(header, message.mtu) || !fits(in.roce, message, 0) ||
      (reth != nullptr && reth->length.value() != message.length)) {
    return burst.actions.drop(std::move(in.packet), drop::malformed);
  }
  const auto rank = header.rank.value();
  if (ring.paths().of(rank) == Path::elsewhere) {
    return pass(std::move(in.packet), in.frame, burst);
  }
  if (const auto refusal = claim(ring, header, in.roce.connection(), burst.now)) {
    return burst.actions.drop(std::move(in.packet), *refusal);
  }
  auto& connection = ring.connection(rank);
  connection.touch(burst.now);
  const auto* known = connection.record(message);
  if (known == nullptr) {
    ++counters_.past;
    return burst.actions.forward(std::move(in.packet), in.frame);
  }
  aggregate(in, {ring, rank, *known, 0, *headers_icrc}, burst);
}

std::optional<DropReason> NetReduceEngine::claim(Ring& ring, const wire::InaHeader& header,
                                                 const ConnectionKey& key, Time now) {
  if (!ring.is_path_of(header.rank.value(), key)) {
    return drop::not_member;
  }
  if (!ring.enter(header.run.value(), header.message.value())) {
    return drop::stale_run;
  }
  const ConnectionTable::Sender self{&ring, header.rank.value()};
  auto& connection = ring.connection(self.rank);
  if (connection.is_claimed()) {
    return connection.key() == key ? std::nullopt : std::optional(drop::rank_taken);
  }
  // Queue pairs are numbered anew when a machine starts, so whoever had the number before is gone.
  if (const auto other = senders_.find(key); other.ring != nullptr) {
    other.ring->connection(other.rank).release();
    senders_.erase(key, other);
  }
  senders_.erase(ring.newcomer(self.rank) != nullptr ? ring.path_of(self.rank) : connection.key(),
                 self);
  senders_.insert(key, self);
  connection.claim(key, header.message.value(), now);
  ring.meet(self.rank);
  return std::nullopt;
}

ConnectionTable::Sender NetReduceEngine::sender_of(const RocePacket& roce) const {
  const auto sender = senders_.find(roce.connection());
  const bool is_known = sender.ring != nullptr && sender.ring->connection(sender.rank).is_claimed();
  return is_known ? sender : ConnectionTable::Sender{};
}

ConnectionTable::Sender NetReduceEngine::past_sender_of(const RocePacket& roce, Time now) const {
  const auto sender = senders_.find(roce.connection());
  const bool is_past =
      sender.ring != nullptr && sender.ring->connection(sender.rank).is_of_past_run(now);
  return is_past ? sender : ConnectionTable::Sender{};
}

template <typename See>
void NetReduceEngine::for_each_newcomer(const RocePacket& roce, See see) const {
  auto path = roce.connection();
  path.destination_qp = ConnectionKey::any_qp;
  senders_.for_each(path, [&](const ConnectionTable::Sender& sender) {
    see(*sender.ring, *sender.ring->newcomer(sender.rank));
  });
}

// All are asked, so that the time counts for all of them.
bool NetReduceEngine::is_suspect(const RocePacket& roce, Time now) const {
  const auto queue_pair = roce.roce.bth->destination_qp.value();
  bool suspect = false;
  for_each_newcomer(roce, [&](const Ring& ring, Newcomer& newcomer) {
    if (may_be_gradient(roce, ring.config().mtu)) {
      suspect |= newcomer.is_suspect(queue_pair, now);
    }
  });
  return suspect;
}

void NetReduceEngine::begin_ordinary(Incoming in, const Burst& burst) {
  const auto sender = sender_of(in.roce);
  const auto past = past_sender_of(in.roce, burst.now);
  bool has_newcomers = false;
  for_each_newcomer(in.roce, [&](const Ring&, const Newcomer&) { has_newcomers = true; });
  // What was damaged may be anything: it teaches nothing, and its receiver drops it.
  const bool teaches = sender.ring != nullptr || past.ring != nullptr || has_newcomers;
  if (teaches && !has_right_icrc(in.roce)) {
    return pass(std::move(in.packet), in.frame, burst);
  }
  if (sender.ring != nullptr) {
    auto& connection = sender.ring->connection(sender.rank);
    if (connection.is_silent(burst.now) ||
        !connection.record_ordinary(in.roce.psn(), packets_of(in.roce))) {
      connection.release();
    }
  } else {
    for_each_newcomer(in.roce, [&](const Ring&, Newcomer& newcomer) {
      newcomer.note_other(in.roce.roce.bth->destination_qp.value());
    });
  }
  if (past.ring != nullptr) {  // somebody else has the queue pair
    past.ring->connection(past.rank).release();
  }
  pass(std::move(in.packet), in.frame, burst);
}

void NetReduceEngine::follow(Incoming in, const Burst& burst) {
  const auto sender = sender_of(in.roce);
  if (sender.ring == nullptr) {
    return follow_nobody(in, burst);
  }
  auto& connection = sender.ring->connection(sender.rank);
  const auto place = connection.find(in.roce.psn());
  using Kind = Connection::Place::Kind;
  if (place.kind == Kind::unknown) {
    return refuse(in, *sender.ring, place, burst);
  }
  if (place.kind != Kind::gradient) {
    return pass(std::move(in.packet), in.frame, burst);
  }
  auto& ring = *sender.ring;
  const auto headers_icrc = check_icrc(in.roce, 0, ring.joint(in.roce.roce.payload.size(), 0));
  if (!headers_icrc) {
    return burst.actions.drop(std::move(in.packet), drop::icrc);
  }
  // The packet is intact but cannot be of this message: the numbers are somebody else's by now.
  if (!fits(in.roce, *place.message, place.offset)) {
    connection.release();
    return pass(std::move(in.packet), in.frame, burst);
  }
  connection.touch(burst.now);
  aggregate(in, {ring, sender.rank, *place.message, place.offset, *headers_icrc}, burst);
}

void NetReduceEngine::follow_nobody(Incoming in, const Burst& burst) {
  // The rest of a message that no aggregator has any more would pass without its sum.
  if (const auto past = past_sender_of(in.roce, burst.now);
      past.ring != nullptr && may_be_gradient(in.roce, past.ring->config().mtu)) {
    return burst.actions.drop(std::move(in.packet), drop::stale_run);
  }
  if (is_suspect(in.roce, burst.now)) {
    return burst.actions.drop(std::move(in.packet), drop::first_lost);
  }
  pass(std::move(in.packet), in.frame, burst);
}

// The receiver would say at once what it lacks, if it saw that something is missing. It may see the
// packet, but under a number at which it never takes one: it would take it under its own number if
// that came late, behind the first packet's repeat. Another switch of the ring could not tell what
// it is.
void NetReduceEngine::refuse(Incoming in, const Ring& ring, const Connection::Place& place,
                             const Burst& burst) {
  const bool is_ahead = place.offset < wire::psns_between_runs;
  if (!ring.is_of_one_switch() || !is_ahead) {
    return burst.actions.drop(std::move(in.packet), drop::first_lost);
  }
  if (!has_right_icrc(in.roce)) {
    return burst.actions.drop(std::move(in.packet), drop::icrc);
  }
  ++counters_.provoked;
  renumber(in.roce, wire::psn_add(in.roce.psn(), wire::provoking_distance));
  burst.actions.forward(std::move(in.packet), in.frame);
}

Ring* NetReduceEngine::find_ring(std::uint32_t id) {
  const auto at = std::find_if(rings_.begin(), rings_.end(),
                               [id](const auto& ring) { return ring->config().id == id; });
  return at != rings_.end() ? at->get() : nullptr;
}

}  // namespace tributary::netreduce
