// SPDX-License-Identifier: BSD-3-Clause
#include "engines/netreduce/engine.h"

#include <algorithm>
#include <utility>

namespace tributary::netreduce {
namespace {

// Packets of the message that the first one begins, as far as it tells: a SEND says nothing, the
// last packet of an RDMA WRITE may be shorter.
std::uint32_t packets_of(const RocePacket& roce) {
  const auto bytes = roce.roce.payload.size();
  if (roce.roce.position() == wire::RocePosition::only || roce.roce.reth == nullptr || bytes == 0) {
    return 1;
  }
  return wire::ina_packets(roce.roce.reth->length.value(), static_cast<std::uint32_t>(bytes));
}

// Whether something waits where the packet belongs.
bool is_awaited(const Ring& ring, const Connection::Place& place) {
  if (place.kind != Connection::Place::Kind::gradient) {
    return false;
  }
  const auto& array = ring.aggregators();
  const auto& aggregator = array.at(array.index_of(place.message->id, place.offset));
  return aggregator.is_waiting() && aggregator.message == place.message->id;
}

}  // namespace

NetReduceEngine::NetReduceEngine(const NetReduceConfig& config) {
  reconfigure(config);
}

void NetReduceEngine::reconfigure(const NetReduceConfig& config) {
  std::vector<std::unique_ptr<Ring>> next;
  for (const auto& wanted : config.rings) {
    const auto old = std::find_if(rings_.begin(), rings_.end(), [&](const auto& ring) {
      return ring != nullptr && ring->config() == wanted;
    });
    next.push_back(old != rings_.end() ? std::move(*old) : std::make_unique<Ring>(wanted));
  }
  rings_ = std::move(next);
  senders_.rebuild(rings_);
}

void NetReduceEngine::process(std::span<engine::Arrival> burst, Time now,
                              engine::Actions& actions) {
  for (auto& arrival : burst) {
    handle(arrival, now, actions);
  }
}

void NetReduceEngine::handle(engine::Arrival& arrival, Time now, engine::Actions& actions) {
  const auto roce = roce_of(arrival.frame);
  if (roce.ip.empty()) {
    return pass(std::move(arrival.packet), actions);
  }
  if (!wire::begins_message(roce.roce.position())) {
    return follow(std::move(arrival.packet), roce, now, actions);
  }
  const auto* header = wire::peek_ina(roce.roce.payload);
  auto* ring = header != nullptr ? find_ring(header->ring.value()) : nullptr;
  if (ring == nullptr) {
    return begin_ordinary(std::move(arrival.packet), roce, now, actions);
  }
  begin(std::move(arrival.packet), roce, *header, *ring, now, actions);
}

void NetReduceEngine::pass(PacketPtr packet, engine::Actions& actions) {
  ++counters_.passed;
  actions.forward(std::move(packet));
}

void NetReduceEngine::begin(PacketPtr packet, const RocePacket& roce, const wire::InaHeader& header,
                            Ring& ring, Time now, engine::Actions& actions) {
  // A damaged packet must not get the right ICRC from us.
  const auto headers_icrc =
      check_icrc(roce, sizeof header, ring.joint(roce.roce.payload.size(), sizeof header));
  if (!headers_icrc) {
    return actions.drop(std::move(packet), DropReason::netreduce_icrc);
  }
  const Message message{roce.psn(),
                        header.message.value(),
                        header.length.value(),
                        header.packets.value(),
                        header.element_type,
                        header.op,
                        roce.is_write()};
  const auto* reth = roce.roce.reth;
  if (!ring.admits(header) || !fits(roce, message, 0, ring.config().mtu) ||
      (reth != nullptr && reth->length.value() != message.length)) {
    return actions.drop(std::move(packet), DropReason::netreduce_malformed);
  }
  const auto rank = header.rank.value();
  if (ring.paths().of(rank) == Path::elsewhere) {
    return pass(std::move(packet), actions);
  }
  if (const auto refusal = claim(ring, header, roce.connection(), now)) {
    return actions.drop(std::move(packet), *refusal);
  }
  auto& connection = ring.connection(rank);
  connection.touch(now);
  const auto* known = connection.record(message);
  if (known == nullptr) {
    ++counters_.past;
    return actions.forward(std::move(packet));
  }
  aggregate(std::move(packet), roce, {ring, rank, *known, 0, *headers_icrc}, now, actions);
}

std::optional<DropReason> NetReduceEngine::claim(Ring& ring, const wire::InaHeader& header,
                                                 const ConnectionKey& key, Time now) {
  if (!ring.is_path_of(header.rank.value(), key)) {
    return DropReason::netreduce_not_member;
  }
  const auto runs = ring.runs();
  if (!ring.enter(header.run.value(), header.message.value())) {
    return DropReason::netreduce_stale_run;
  }
  if (ring.runs() != runs) {
    senders_.rebuild(rings_);
  }
  auto& connection = ring.connection(header.rank.value());
  if (connection.is_claimed()) {
    return connection.key() == key ? std::nullopt : std::optional(DropReason::netreduce_rank_taken);
  }
  // Queue pairs are numbered anew when a machine starts: who had the number before is gone.
  if (const auto other = senders_.find(key); other.ring != nullptr) {
    other.ring->connection(other.rank).release();
  }
  connection.claim(key, now);
  senders_.rebuild(rings_);
  return std::nullopt;
}

void NetReduceEngine::disclaim(Connection& connection) {
  connection.release();
  senders_.rebuild(rings_);
}

void NetReduceEngine::begin_ordinary(PacketPtr packet, const RocePacket& roce, Time now,
                                     engine::Actions& actions) {
  const auto sender = senders_.find(roce.connection());
  // What was damaged may be anything: it teaches nothing, and its receiver drops it.
  if (sender.ring != nullptr && has_right_icrc(roce)) {
    auto& connection = sender.ring->connection(sender.rank);
    if (connection.is_silent(now) || !connection.record_ordinary(roce.psn(), packets_of(roce))) {
      disclaim(connection);
    }
  }
  pass(std::move(packet), actions);
}

void NetReduceEngine::follow(PacketPtr packet, const RocePacket& roce, Time now,
                             engine::Actions& actions) {
  const auto sender = senders_.find(roce.connection());
  if (sender.ring == nullptr) {
    return pass(std::move(packet), actions);
  }
  auto& connection = sender.ring->connection(sender.rank);
  const auto place = connection.find(roce.psn());
  if (connection.is_silent(now) && !is_awaited(*sender.ring, place)) {
    disclaim(connection);
    return pass(std::move(packet), actions);
  }
  using Kind = Connection::Place::Kind;
  if (place.kind == Kind::unknown) {
    return actions.drop(std::move(packet), DropReason::netreduce_first_lost);
  }
  if (place.kind != Kind::gradient) {
    return pass(std::move(packet), actions);
  }
  auto& ring = *sender.ring;
  const auto headers_icrc = check_icrc(roce, 0, ring.joint(roce.roce.payload.size(), 0));
  if (!headers_icrc) {
    return actions.drop(std::move(packet), DropReason::netreduce_icrc);
  }
  // An intact packet that cannot be of this message: the numbers are somebody else's by now.
  if (!fits(roce, *place.message, place.offset, ring.config().mtu)) {
    disclaim(connection);
    return pass(std::move(packet), actions);
  }
  connection.touch(now);
  aggregate(std::move(packet), roce,
            {ring, sender.rank, *place.message, place.offset, *headers_icrc}, now, actions);
}

Ring* NetReduceEngine::find_ring(std::uint32_t id) {
  const auto at = std::find_if(rings_.begin(), rings_.end(),
                               [id](const auto& ring) { return ring->config().id == id; });
  return at != rings_.end() ? at->get() : nullptr;
}

}  // namespace tributary::netreduce
