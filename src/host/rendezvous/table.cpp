// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/table.h"

#include <algorithm>
#include <cstring>

#include "host/protocol.h"
#include "host/text.h"

namespace tributary::host {
namespace {

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const std::size_t end = bytes.size();
  bytes.resize(end + sizeof value);
  std::memcpy(bytes.data() + end, &value, sizeof value);
}

// Whoever comes from the network may claim anything.
constexpr std::uint32_t payload_bytes_max = 65504;

// Returns the first setting in which a rank differs from rank 0. Precondition: their protocol is
// the same.
std::optional<std::string> different_setting(const RendezvousHello& hello,
                                             const RendezvousHello& host) {
  const auto* const protocol = protocol_called(text_of(host.protocol));
  std::size_t index = 0;
  for (const auto& parameter : protocol == nullptr ? ParameterTable() : protocol->parameters) {
    if (!parameter.agreed) {
      continue;
    }
    const auto theirs = hello.settings[index].value();
    const auto rank_0s = host.settings[index].value();
    if (theirs != rank_0s) {
      return difference(parameter, theirs, rank_0s);
    }
    ++index;
  }
  return std::nullopt;
}

// Returns the variables that ranks of either protocol must have alike; `automatic_algorithm` chose
// by them, too.
std::string deciding_variables(const HostProtocol* protocol, const HostProtocol* rank_0s) {
  std::string variables;
  for (const auto* one : {protocol, rank_0s}) {
    for (const auto& parameter : one == nullptr ? ParameterTable() : one->parameters) {
      if (parameter.agreed) {
        variables += (variables.empty() ? "" : ", ") + variable_of(parameter);
      }
    }
  }
  return variables;
}

// The name that a rank has for its protocol is told only if there is such a protocol.
std::string different_protocol(const RendezvousHello& hello, const RendezvousHello& host) {
  const auto* const theirs = protocol_called(text_of(hello.protocol));
  const auto* const rank_0s = protocol_called(text_of(host.protocol));
  return "is going to try " + (theirs == nullptr ? "another protocol" : std::string(theirs->name)) +
         ", rank 0 " + std::string(text_of(host.protocol)) +
         ": give all ranks the same parameters (" + deciding_variables(theirs, rank_0s) + ")";
}

}  // namespace

std::optional<std::string> disagreement(const RendezvousHello& hello, const std::string& who,
                                        const RendezvousHello& host) {
  if (hello.encapsulation != host.encapsulation) {
    return who + " and rank 0 differ in the encapsulation (udp or ethernet)";
  }
  if (hello.job != host.job) {
    return who + " was started with job " + std::to_string(hello.job.value()) + ", rank 0 with " +
           std::to_string(host.job.value()) + " (0: to be drawn)";
  }
  if (hello.algorithm != host.algorithm || hello.fallback != host.fallback) {
    return who + " and rank 0 differ in the algorithm or in the fallback";
  }
  if (hello.reproducible != host.reproducible) {
    return who +
           (hello.reproducible != 0 ? " asks for reproducible sums, rank 0 does not"
                                    : " does not ask for reproducible sums, rank 0 does") +
           ": give all ranks the same TRIBUTARY_REPRODUCIBLE";
  }
  if (hello.never_doubles != host.never_doubles) {
    return who + " and rank 0 differ in TRIBUTARY_DOUBLING (on or off)";
  }
  if (hello.over_ipv6 != host.over_ipv6) {
    return who +
           (hello.over_ipv6 != 0 ? " has an address of IPv6, rank 0 one of IPv4"
                                 : " has an address of IPv4, rank 0 one of IPv6") +
           ": give all ranks one of the same version (TRIBUTARY_LOCAL_ADDRESS)";
  }
  if (hello.protocol != host.protocol) {
    return who + " " + different_protocol(hello, host);
  }
  if (const auto setting = different_setting(hello, host)) {
    return who + " " + *setting;
  }
  return std::nullopt;
}

RendezvousTable::RendezvousTable(const RendezvousHello& host) : entries_(host.world_size.value()) {
  entries_[0] = host;
  present_ = 1;
}

std::optional<std::string> RendezvousTable::add(const RendezvousHello& hello) {
  const auto rank = hello.rank.value();
  const auto who = rank_text(rank);
  const auto& host = *entries_[0];
  if (hello.version.value() != rendezvous_version) {
    return who + " speaks version " + std::to_string(hello.version.value()) +
           " of the rendezvous, rank 0 version " + std::to_string(rendezvous_version) +
           install_the_same;
  }
  if (hello.world_size.value() != host.world_size.value()) {
    return who + " was started with world size " + std::to_string(hello.world_size.value()) +
           ", rank 0 with " + std::to_string(host.world_size.value());
  }
  if (rank >= entries_.size()) {
    return who + " does not exist in a world of " + std::to_string(entries_.size());
  }
  if (entries_[rank]) {
    return who + " came twice: from " + to_string(entries_[rank]->address) + " and from " +
           to_string(hello.address);
  }
  if (auto different = disagreement(hello, who, host)) {
    return different;
  }
  if (hello.payload_bytes.value() == 0 || hello.payload_bytes.value() > payload_bytes_max ||
      hello.payload_bytes.value() % rendezvous_payload_bytes_min != 0 ||
      hello.window.value() == 0 || hello.window.value() > rendezvous_window_max) {
    return who + " asks for an impossible packet size or window";
  }
  entries_[rank] = hello;
  ++present_;
  return std::nullopt;
}

void RendezvousTable::remove(std::uint32_t rank) {
  entries_[rank].reset();
  --present_;
}

std::string RendezvousTable::missing() const {
  constexpr int shown_max = 16;
  std::string text;
  int shown = 0;
  for (std::size_t rank = 0; rank < entries_.size(); ++rank) {
    if (entries_[rank]) {
      continue;
    }
    if (++shown > shown_max) {
      return text + " ...";
    }
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}

std::vector<std::byte> RendezvousTable::agreement(std::uint32_t job, const JobKey& key) const {
  RendezvousAgreement agreement{wire::be32{job}, key, entries_[0]->payload_bytes,
                                entries_[0]->window};
  RendezvousReply reply;
  reply.bytes =
      static_cast<std::uint32_t>(sizeof agreement + entries_.size() * sizeof(RendezvousPeer));
  for (const auto& entry : entries_) {
    agreement.payload_bytes =
        std::min(agreement.payload_bytes.value(), entry->payload_bytes.value());
    agreement.window = std::min(agreement.window.value(), entry->window.value());
  }
  std::vector<std::byte> bytes;
  append(bytes, reply);
  append(bytes, agreement);
  for (const auto& entry : entries_) {
    append(bytes, RendezvousPeer{entry->address, entry->port, entry->ring_port, entry->end});
  }
  return bytes;
}

std::vector<std::byte> refusal(const std::string& reason) {
  RendezvousReply reply;
  reply.failed = 1;
  reply.bytes = static_cast<std::uint32_t>(reason.size());
  std::vector<std::byte> bytes;
  append(bytes, reply);
  for (const char letter : reason) {
    bytes.push_back(static_cast<std::byte>(letter));
  }
  return bytes;
}

Result<Meeting> parse_agreement(wire::Bytes body, const RendezvousHello& mine) {
  wire::Cursor cursor(body);
  const auto* const agreement = cursor.take<RendezvousAgreement>();
  const auto world_size = mine.world_size.value();
  if (agreement == nullptr || cursor.rest().size() != world_size * sizeof(RendezvousPeer) ||
      agreement->payload_bytes.value() == 0 ||
      agreement->payload_bytes.value() % rendezvous_payload_bytes_min != 0 ||
      agreement->payload_bytes.value() > mine.payload_bytes.value() ||
      agreement->window.value() == 0 || agreement->window.value() > mine.window.value()) {
    return fail(Error::Code::rendezvous, "the answer of rank 0 makes no sense");
  }
  Meeting meeting;
  meeting.job.id = agreement->job.value();
  meeting.job.key = agreement->key;
  meeting.job.rank = mine.rank.value();
  meeting.job.payload_bytes = agreement->payload_bytes.value();
  meeting.job.window = agreement->window.value();
  meeting.job.encapsulation = mine.encapsulation;
  while (const auto* peer = cursor.take<RendezvousPeer>()) {
    meeting.job.peers.push_back({peer->address, peer->port.value()});
    meeting.ring.push_back({peer->address, peer->ring_port.value()});
    meeting.ends.push_back(peer->end);
  }
  return meeting;
}

}  // namespace tributary::host
