// SPDX-License-Identifier: BSD-3-Clause
#include "host/setup.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "host/exact/quantiser.h"
#include "host/protocol.h"
#include "host/rendezvous/rendezvous.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "host/tuning/measurement.h"
#include "wire/ipv6.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t mtu_min = 256;
constexpr std::uint32_t mtu_auto_max = 9216;  // loopback claims 64 KiB

Result<wire::IpAddress> local_address(const CommunicatorOptions& options, const Endpoint& place) {
  return options.local_address.empty() ? local_address_towards(place)
                                       : parse_ip_address(options.local_address);
}

// Over IPv6, a rank is known by the lower 32 bits of its address.
Result<void> check_ipv6(const CommunicatorOptions& options, const wire::IpAddress& local,
                        const Endpoint& place) {
  const auto prefix = wire::EmbeddingPrefix::of(local);
  if (place.prefix && *place.prefix != prefix) {
    return invalid("this rank has the address " + to_string(local) + ", and the ranks meet at " +
                   to_string(place.ip()) +
                   ": over IPv6, ranks have addresses with the same upper 96 bits, as they are "
                   "known by the others (TRIBUTARY_LOCAL_ADDRESS)");
  }
  const auto& protocol = *protocol_of(options);
  const bool by_ring = options.algorithm == ring_algorithm;
  if (!by_ring && !protocol.over_ipv6) {
    return invalid(std::string(protocol.name) + " knows no addresses of IPv6 as this rank's, " +
                   to_string(local) +
                   ": give it one of IPv4 (TRIBUTARY_LOCAL_ADDRESS), or another algorithm");
  }
  return {};
}

Result<std::uint32_t> mtu_of(const CommunicatorOptions& options, const wire::IpAddress& local) {
  if (options.mtu != 0) {
    return std::uint32_t{options.mtu};
  }
  return interface_of(local).map(
      [](const Interface& found) { return std::min(found.mtu, mtu_auto_max); });
}

// Protocols reckon with the headers of IPv4, which leave more room.
std::uint32_t ipv4_bytes(const Endpoint& own, std::uint32_t mtu) {
  const auto more = own.more_header_bytes();
  return mtu > more ? mtu - more : mtu;
}

// The arithmetic of clocks ends beyond that.
constexpr std::chrono::hours duration_max{24 * 365};

// These limit how long a collective may take, and how long it may stand still: once a rank is gone,
// and as long as all are there.
struct Limits {
  Duration total = duration_max;
  Duration stall = duration_max;
  Duration late = duration_max;
};

Limits limits_of(const CommunicatorOptions& options) {
  Limits limits;
  if (options.deadline) {
    limits.total = std::min<Duration>(*options.deadline, duration_max);
  }
  if (options.stall_timeout || !options.deadline) {
    const auto stall = options.stall_timeout.value_or(CommunicatorOptions::stall_timeout_default);
    limits.stall = std::min<Duration>(stall, duration_max);
    const auto late = options.late_timeout.value_or(limits.stall);
    limits.late = std::clamp<Duration>(late, limits.stall, duration_max);
  }
  return limits;
}

// Has what a rank has opened before it meets the others, and what it tells them.
struct Opened {
  std::unique_ptr<Preparation> preparation;
  Listener listener;
  RendezvousHello hello;
};

template <typename T>
tl::unexpected<Error> error_of(const Result<T>& failed) {
  return tl::make_unexpected(failed.error());
}

// Precondition: reproducible sums are asked for.
Result<void> check_reproducible(const CommunicatorOptions& options, const HostProtocol& protocol) {
  const std::string leave_off = "leave reproducible off (TRIBUTARY_REPRODUCIBLE=0)";
  if (options.world_size > exact::world_size_max) {
    return invalid("sums are reproducible over up to " + std::to_string(exact::world_size_max) +
                   " ranks, not over " + std::to_string(options.world_size) +
                   ", where too few bits would be left of an element: " + leave_off);
  }
  if (protocol.partial != nullptr && protocol.partial(options)) {
    return invalid(
        "sums that may lack ranks are not reproducible, as it depends on who is late: leave share "
        "at 1 (TRIBUTARY_SHARE), or " +
        leave_off);
  }
  return {};
}

void tell(const Offer& offer, RendezvousHello& hello) {
  hello.port = offer.port;
  hello.payload_bytes = offer.payload_bytes;
  hello.window = offer.window;
  hello.end = offer.end;
}

// Listens for the ring.
Result<Opened> listening(const CommunicatorOptions& options, const Endpoint& own,
                         std::unique_ptr<Preparation> preparation, const Offer& offer) {
  return listen_on(own).map([&](Listener listener) {
    auto hello = hello_of(options);
    hello.address = own.address;
    hello.over_ipv6 = own.prefix ? 1 : 0;
    hello.ring_port = listener.local.port;
    tell(offer, hello);
    return Opened{std::move(preparation), std::move(listener), hello};
  });
}

Result<Opened> open(const CommunicatorOptions& options, const Endpoint& rendezvous) {
  const auto local = local_address(options, rendezvous);
  if (!local) {
    return error_of(local);
  }
  const auto mtu = mtu_of(options, *local);
  if (!mtu) {
    return error_of(mtu);
  }
  const auto own = Endpoint::at(*local, 0);
  if (own.prefix) {
    if (auto checked = check_ipv6(options, *local, rendezvous); !checked) {
      return error_of(checked);
    }
  }
  const auto& protocol = *protocol_of(options);
  auto preparation = protocol.prepare(options, {own.address, ipv4_bytes(own, *mtu), own.prefix});
  if (!preparation) {
    return error_of(preparation);
  }
  const auto offer = (*preparation)->offer();
  return listening(options, own, std::move(*preparation), offer);
}

// A rank that could not open what it needs meets the others all the same, to say why it takes no
// part. They reach it until they have heard that.
Result<Opened> excuse(const CommunicatorOptions& options, const Endpoint& rendezvous) {
  const auto local = local_address_towards(rendezvous);
  if (!local) {
    return error_of(local);
  }
  Offer none;
  none.payload_bytes = rendezvous_payload_bytes_min;
  none.window = 1;
  return listening(options, Endpoint::at(*local, 0), nullptr, none);
}

// Tells whether a rank of the meeting has come for that alone: no other has so small packets.
bool is_excused(const Meeting& meeting) {
  return meeting.job.payload_bytes == rendezvous_payload_bytes_min;
}

// All ranks have the same prefix.
Meeting with_prefix(Meeting meeting, const std::optional<wire::EmbeddingPrefix>& prefix) {
  for (auto* endpoints : {&meeting.job.peers, &meeting.ring}) {
    for (auto& endpoint : *endpoints) {
      endpoint.prefix = prefix;
    }
  }
  return meeting;
}

Result<std::unique_ptr<PeerWatch>> watch_over(const CommunicatorOptions& options,
                                              const Ring& ring) {
  return options.late_timeout ? PeerWatch::over(ring.connections(), stall_of(options))
                              : Result<std::unique_ptr<PeerWatch>>(nullptr);
}

// Connects to the ranks that were met.
Result<Connections> join(const CommunicatorOptions& options, Opened mine, Rendezvous& met,
                         const Deadline& until) {
  const auto meeting = with_prefix(met.meeting(), mine.listener.local.prefix);
  const auto wait = heeding(
      until, [&met](int fd, short events, Time latest) { return met.wait(fd, events, latest); });
  if (is_excused(meeting)) {
    const auto told = wait(-1, 0, until.due());
    return told ? fail(Error::Code::timeout, "a rank takes no part, and did not say why in time")
                : error_of(told);
  }
  auto ring = Ring::connect(meeting, std::move(mine.listener), until.due(), wait);
  if (!ring) {
    return error_of(ring);
  }
  auto carrier = mine.preparation->join(meeting);
  if (!carrier) {
    return error_of(carrier);
  }
  if (options.algorithm != ring_algorithm) {
    if (const auto attending = (*carrier)->attend(); !attending) {
      return error_of(attending);
    }
  }
  return watch_over(options, *ring).map([&](std::unique_ptr<PeerWatch> watch) {
    return Connections{std::move(*ring), std::move(*carrier), std::move(watch)};
  });
}

}  // namespace

Deadline deadline_of(const CommunicatorOptions& options, Time now) {
  const auto limits = limits_of(options);
  Deadline deadline(now + limits.total, limits.late);
  deadline.begin(now);
  return deadline;
}

Duration stall_of(const CommunicatorOptions& options) {
  return limits_of(options).stall;
}

Duration patience_of(const CommunicatorOptions& options) {
  const auto limits = limits_of(options);
  return std::min(limits.total, limits.stall);
}

RendezvousHello hello_of(const CommunicatorOptions& options) {
  const auto& protocol = *protocol_of(options);
  RendezvousHello hello;
  hello.encapsulation = options.encapsulation;
  hello.fallback = options.fallback == Fallback::error ? 1 : 0;
  hello.reproducible = options.reproducible ? 1 : 0;
  hello.never_doubles = tuning::may_double(options) ? 0 : 1;
  hello.rank = options.rank;
  hello.world_size = options.world_size;
  hello.job = options.job;
  hello.algorithm = rendezvous_name(options.algorithm);
  hello.protocol = rendezvous_name(protocol.name);
  const auto agreed = Values(options.parameters, protocol.parameters).agreed(options.world_size);
  std::copy(agreed.begin(), agreed.end(), hello.settings);
  return hello;
}

Result<void> check(const CommunicatorOptions& options) {
  if (auto checked = check_parameters(options); !checked) {
    return checked;
  }
  if (options.world_size == 0 || options.world_size > rendezvous_ranks_max) {
    return invalid("world size " + std::to_string(options.world_size) + " is not within 1 to " +
                   std::to_string(rendezvous_ranks_max));
  }
  if (options.rank >= options.world_size) {
    return invalid("rank " + std::to_string(options.rank) + " does not exist in a world of " +
                   std::to_string(options.world_size));
  }
  if (options.mtu != 0 && options.mtu < mtu_min) {
    return invalid("MTU " + std::to_string(options.mtu) + " is below " + std::to_string(mtu_min));
  }
  if (options.window > rendezvous_window_max) {
    return invalid("window " + std::to_string(options.window) + " is above " +
                   std::to_string(rendezvous_window_max));
  }
  const auto* const protocol = protocol_of(options);
  if (protocol == nullptr) {
    return invalid("there is no algorithm '" + options.algorithm + "', but " + known_algorithms());
  }
  if (are_hosts_alone(options.algorithm) && options.fallback == Fallback::error) {
    return invalid(
        "the ring never uses the switches: choose another algorithm, or allow the "
        "fallback to the hosts");
  }
  for (const auto& limit : {options.deadline, options.stall_timeout, options.late_timeout}) {
    if (limit && *limit <= std::chrono::nanoseconds::zero()) {
      return invalid("the deadline, the stall timeout and the late timeout must be positive");
    }
  }
  if (options.reproducible) {
    if (auto checked = check_reproducible(options, *protocol); !checked) {
      return checked;
    }
  }
  const bool needs_no_check = options.algorithm == ring_algorithm || protocol->check == nullptr;
  return needs_no_check ? Result<void>() : protocol->check(options);
}

Result<Connections> connect(const CommunicatorOptions& options, const Deadline& until,
                            std::optional<Listener> listener, const Result<void>& ready) {
  const auto place = resolve(options.rendezvous);
  if (!place) {
    return error_of(place);
  }
  auto mine = open(options, *place);
  const auto able = !mine ? Result<void>(error_of(mine)) : ready;
  if (!mine) {
    mine = excuse(options, *place);
  }
  if (!mine) {
    return error_of(able);
  }
  auto met = meet(*place, mine->hello, options.secret, until, std::move(listener));
  if (!met) {
    return able ? error_of(met) : error_of(able);
  }
  auto joined = able ? join(options, std::move(*mine), **met, until) : error_of(able);
  const auto concluded = (*met)->conclude(joined.map([](const auto&) {}), until);
  if (!concluded) {
    return error_of(concluded);
  }
  return joined;
}

}  // namespace tributary::host
