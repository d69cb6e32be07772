// SPDX-License-Identifier: BSD-3-Clause
#include "property/describe.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/frame.h"
#include "host/job.h"
#include "host/roce/packets.h"
#include "protocols/canary/wire.h"
#include "protocols/flare/engine/protocol.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/wire.h"
#include "protocols/netreduce/wire.h"
#include "protocols/panama/engine/protocol.h"
#include "protocols/panama/wire.h"
#include "support/dress.h"
#include "wire/arp.h"
#include "wire/roce.h"

namespace tributary::test {
namespace {

const char* name_of(wire::CanaryKind kind) {
  switch (kind) {
    case wire::CanaryKind::contribution:
      return "contribution";
    case wire::CanaryKind::result:
      return "result";
    case wire::CanaryKind::restoration:
      return "restoration";
    case wire::CanaryKind::request:
      return "request";
    case wire::CanaryKind::failure:
      return "failure";
    case wire::CanaryKind::pending:
      return "pending";
    case wire::CanaryKind::release:
      return "release";
  }
  return "?";
}

std::string describe(const wire::CanaryHeader& header, wire::CanaryError error) {
  char text[256];
  const auto id = header.id.value();
  std::snprintf(
      text, sizeof text,
      "%s%s job %x block %u.%u -> %s counter %u/%u elements %u rank %d child %s:%u%s%s fp %016llx",
      error == wire::CanaryError::none ? "" : (std::string(wire::name(error)) + "! ").c_str(),
      name_of(header.kind), header.job.value(), wire::canary_sequence(id), wire::canary_attempt(id),
      host::to_string(header.destination).c_str(), header.counter.value(), header.hosts.value(),
      header.elements.value(),
      header.rank.value() == wire::CanaryHeader::no_rank ? -1 : int{header.rank.value()},
      host::to_string(header.child_address).c_str(), header.child_port.value(),
      header.bypass() ? " bypass " : "",
      header.bypass() ? host::to_string(header.switch_ipv4).c_str() : "",
      static_cast<unsigned long long>(header.fingerprint.value()));
  return text;
}

std::string describe_panama(wire::MutableBytes bytes) {
  const auto view = wire::parse_panama(bytes);
  if (view.header == nullptr) {
    return "short PANAMA packet";
  }
  const auto& header = *view.header;
  char text[256];
  std::snprintf(
      text, sizeof text,
      "%s%s job %x tree %u run %08x epoch %u vid %u%s%s contributions %u/%u elements %u rank %d "
      "cap %u "
      "fp %016llx",
      view.error == wire::PanamaError::none ? ""
                                            : (std::string(wire::name(view.error)) + "! ").c_str(),
      header.kind == wire::PanamaKind::result    ? "PANAMA result"
      : header.kind == wire::PanamaKind::inquiry ? "PANAMA inquiry"
                                                 : "PANAMA aggregation",
      header.job.value(), header.tree.value(), header.run.value(), header.epoch.value(),
      header.vid.value(), header.fin() ? " FIN" : "", header.retransmission() ? " again" : "",
      header.contributions.value(), header.workers.value(), header.elements.value(),
      header.rank.value() == wire::PanamaHeader::no_rank ? -1 : int{header.rank.value()},
      header.wnd_cap.value(), static_cast<unsigned long long>(header.fingerprint.value()));
  return text;
}

const char* name_of(wire::FlareKind kind) {
  switch (kind) {
    case wire::FlareKind::contribution:
      return "contribution";
    case wire::FlareKind::result:
      return "result";
    case wire::FlareKind::inquiry:
      return "inquiry";
    case wire::FlareKind::refusal:
      return "refusal";
  }
  return "?";
}

// The edition tells which shards belong together; a number without an edition means that more
// shards follow.
std::string describe_flare_sparse(wire::MutableBytes bytes) {
  const auto view = wire::parse_flare_sparse(bytes);
  if (view.header == nullptr) {
    return "short sparse Flare packet";
  }
  const auto& header = *view.header;
  char text[320];
  std::snprintf(
      text, sizeof text,
      "%ssparse Flare %s job %x run %08x block %llu%s%s shard %u/%s edition %llx %s %u from %u "
      "span "
      "%u contributions %u/%u fp %016llx",
      view.error == wire::FlareError::none ? ""
                                           : (std::string(wire::name(view.error)) + "! ").c_str(),
      name_of(header.kind), header.job.value(), header.run.value(),
      static_cast<unsigned long long>(header.block.value()),
      header.retransmission() ? " again" : "", header.answers() ? " asked for" : "", header.shard,
      header.shards == 0 ? "?" : std::to_string(header.shards).c_str(),
      static_cast<unsigned long long>(header.edition.value()),
      header.form == wire::FlareForm::pairs ? "pairs" : "run", header.elements.value(),
      header.first.value(), header.span.value(), header.contributions.value(),
      header.workers.value(), static_cast<unsigned long long>(header.fingerprint.value()));
  return text;
}

std::string describe_flare(wire::MutableBytes bytes) {
  if (wire::is_flare_sparse(bytes)) {
    return describe_flare_sparse(bytes);
  }
  const auto view = wire::parse_flare(bytes);
  if (view.header == nullptr) {
    return "short Flare packet";
  }
  const auto& header = *view.header;
  char text[256];
  std::snprintf(
      text, sizeof text,
      "%sFlare %s job %x run %08x block %llu%s%s contributions %u/%u elements %u fp %016llx",
      view.error == wire::FlareError::none ? ""
                                           : (std::string(wire::name(view.error)) + "! ").c_str(),
      name_of(header.kind), header.job.value(), header.run.value(),
      static_cast<unsigned long long>(header.block.value()),
      header.retransmission() ? " again" : "", header.answers() ? " asked for" : "",
      header.contributions.value(), header.workers.value(), header.elements.value(),
      static_cast<unsigned long long>(header.fingerprint.value()));
  return text;
}

std::string describe_gradient(const wire::InaHeader& header) {
  char text[128];
  std::snprintf(text, sizeof text, " ring %x run %08x message %u rank %u of %u, %u packets",
                header.ring.value(), header.run.value(), header.message.value(),
                header.rank.value(), header.world.value(), header.packets.value());
  return text;
}

std::string describe_roce(wire::MutableBytes bytes) {
  const auto* const bth = wire::Cursor(bytes).take<wire::BthHeader>();
  if (bth == nullptr) {
    return "short RoCE packet";
  }
  constexpr const char* positions[] = {"?", "first", "middle", "last", "only"};
  const auto position = wire::position_of(bth->opcode);
  const auto view = wire::parse_roce(bytes);
  const auto reply = host::roce::parse_reply(bytes);
  const bool is_nak = reply && reply->aeth.is_nak();
  std::string text = reply ? (is_nak ? "RoCE NAK" : "RoCE ACK")
                           : std::string("RoCE ") + positions[static_cast<int>(position)];
  text += " qp " + std::to_string(bth->destination_qp.value()) + " psn " +
          std::to_string(bth->psn.value());
  if (const auto* header = view.bth != nullptr ? wire::peek_ina(view.payload) : nullptr) {
    text += describe_gradient(*header);
  }
  return text;
}

std::string describe(const Dress& dress) {
  std::string text;
  if (dress.tag) {
    text += "in VLAN " + std::to_string(wire::vid_of(*dress.tag)) + ": ";
  }
  return text + (dress.prefix ? "over IPv6: " : "");
}

std::string describe_plain(Packet& packet) {
  const auto frame = engine::parse_frame(packet);
  if (frame.ethernet == nullptr) {
    return "short frame";
  }
  const auto type = frame.ethernet->type.value();
  const bool raw = type == wire::ethertype::canary;
  if (panama::engine_kind.protocol.claims(frame)) {
    return describe_panama(frame.payload);
  }
  if (flare::engine_kind.protocol.claims(frame)) {
    return describe_flare(frame.payload);
  }
  if (frame.udp != nullptr && frame.udp->destination_port.value() == wire::roce_udp_port) {
    return describe_roce(frame.payload);
  }
  if ((raw || frame.udp != nullptr) && frame.payload.size() >= sizeof(wire::CanaryHeader)) {
    const auto view = wire::parse_canary(
        frame.payload, raw ? wire::Encapsulation::ethernet : wire::Encapsulation::udp);
    return describe(*view.header, view.error);
  }
  return type == wire::ethertype::arp    ? "ARP"
         : type == wire::ethertype::ipv6 ? "IPv6"
                                         : "type " + std::to_string(type);
}

}  // namespace

std::string describe_frame(wire::Bytes bytes) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  Packet packet{};
  packet.buffer = copy.data();
  packet.capacity = packet.length = static_cast<std::uint32_t>(copy.size());
  const auto dress = take_off(packet);
  return describe(dress) + describe_plain(packet);
}

void print_hop(const Hop& hop) {
  std::printf("%12.3f us  %.*s:%.*s%s  %s\n",
              static_cast<double>(hop.at.time_since_epoch().count()) / 1e3 - 1e6,
              static_cast<int>(hop.switch_name.size()), hop.switch_name.data(),
              static_cast<int>(hop.port.size()), hop.port.data(), hop.at_host ? " host" : "",
              describe_frame(hop.frame).c_str());
}

}  // namespace tributary::test
