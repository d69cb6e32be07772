// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/software_link.h"

namespace tributary::host {
namespace {

roce::Station station_of(const wire::IpAddress& address, std::uint32_t qp, bool device) {
  return {Endpoint::at(address, wire::roce_udp_port), qp, device};
}

}  // namespace

SoftwareLink::SoftwareLink(const NetReducePlan& plan, const wire::IpAddress& here,
                           const LinkPlan& ends, const roce::Tuning& tuning)
    : plan_(plan),
      next_(ends.next.end),
      sent_(std::size_t{plan.slots()} * plan.message_bytes()),
      received_(sent_.size()),
      requester_({station_of(here, ends.mine.send_qp, false),
                  station_of(ends.next.address, next_.receive_qp, next_.device)},
                 first_psn_of(ends.mine, plan.run), plan.mtu, tuning),
      responder_({station_of(here, ends.mine.receive_qp, false),
                  station_of(ends.before.address, ends.before.end.send_qp, ends.before.end.device)},
                 first_psn_of(ends.before.end, plan.run), plan.mtu,
                 {received_, ends.mine.memory, ends.mine.key}, tuning) {}

wire::MutableBytes SoftwareLink::send_slot(std::uint32_t slot) {
  return wire::MutableBytes(sent_).subspan(std::size_t{slot} * plan_.message_bytes(),
                                           plan_.message_bytes());
}

wire::Bytes SoftwareLink::received_slot(std::uint32_t slot) {
  return wire::Bytes(received_).subspan(std::size_t{slot} * plan_.message_bytes(),
                                        plan_.message_bytes());
}

Result<void> SoftwareLink::post(std::uint32_t message, std::uint32_t bytes) {
  const auto slot = message % plan_.slots();
  requester_.post({send_slot(slot).first(bytes),
                   next_.memory + std::uint64_t{slot} * plan_.message_bytes(), next_.key, message});
  return {};
}

void SoftwareLink::receive(std::span<const Arrival> burst, Time now) {
  for (const auto& arrival : burst) {
    examine(arrival, now);
  }
}

// Each connection has a queue pair number of its own at this end, which tells whose packet it is.
void SoftwareLink::examine(const Arrival& arrival, Time now) {
  const auto* const bth = wire::Cursor(arrival.bytes).take<wire::BthHeader>();
  const auto qp = bth == nullptr ? 0 : bth->destination_qp.value();
  const bool to_requester = qp == requester_.path().here.qp;
  const auto& path = to_requester ? requester_.path() : responder_.path();
  if (bth == nullptr || qp != path.here.qp || arrival.source.ip() != path.there.endpoint.ip()) {
    ++statistics_.ignored_foreign;
    return;
  }
  if (!roce::has_right_icrc(arrival.bytes, arrival.source, path)) {
    ++statistics_.ignored_icrc;
    return;
  }
  if (const auto packet = wire::parse_roce(arrival.bytes); !to_requester && packet.bth != nullptr) {
    responder_.take(packet, arrival.ecn == wire::ecn::ce, now);
  } else if (const auto reply = roce::parse_reply(arrival.bytes); to_requester && reply) {
    requester_.take(*reply, now);
  } else if (to_requester && bth->opcode == roce::congestion_notification) {
    requester_.take_congestion_notification(now);
  } else {
    ++statistics_.ignored_foreign;
  }
}

// Answers go first: they are short, and others wait for them.
void SoftwareLink::poll(Outbox& outbox, Time now) {
  responder_.poll(outbox);
  requester_.poll(outbox, now);
}

RoceStatistics SoftwareLink::statistics() const {
  auto statistics = statistics_;
  statistics += requester_.statistics();
  statistics += responder_.statistics();
  return statistics;
}

}  // namespace tributary::host
