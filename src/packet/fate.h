// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string_view>

namespace tributary {

// Why a packet went no further. The names are what operators see; a new reason gets a line here and
// nothing else.
#define TRIBUTARY_DROP_REASONS(X)                                                    \
  X(truncated)            /* frame shorter than its headers say */                   \
  X(source_group_mac)     /* Ethernet source is a group address */                   \
  X(other_mac)            /* routed port: the frame is for somebody else */          \
  X(bridge_reserved)      /* 01:80:c2:00:00:0x is not forwarded */                   \
  X(bridge_same_port)     /* destination is where the frame came from */             \
  X(bridge_no_port)       /* nowhere to flood to */                                  \
  X(bridge_port_security) /* source address that the port may not have */            \
  X(unknown_ethertype)    /* for the router itself, but not IPv4 or ARP */           \
  X(ip_malformed)         /* version, header length, total length */                 \
  X(ip_checksum)          /* IPv4 header checksum */                                 \
  X(ip_martian)           /* source or destination that cannot be routed */          \
  X(ip_not_for_us)        /* group or broadcast that the router does not serve */    \
  X(no_route)             /* no prefix matches */                                    \
  X(next_hops_down)       /* every next hop's port is down */                        \
  X(ttl_exceeded)         /* answered with ICMP time exceeded */                     \
  X(fragmentation_needed) /* larger than the egress MTU */                           \
  X(icmp_malformed)       /* echo request too short or with a wrong checksum */      \
  X(arp_malformed)        /* not IPv4 over Ethernet, or not from its sender */       \
  X(arp_unresolved)       /* next hop did not answer in time */                      \
  X(arp_queue_full)       /* too many packets wait for the same answer */            \
  X(bfd_malformed)        /* BFD: not what RFC 5880 accepts */                       \
  X(bfd_ttl)              /* BFD: TTL below 255, so from further than a hop */       \
  X(bfd_no_session)       /* BFD: from nobody that is watched */                     \
  X(local_unserved)       /* addressed to the switch, no service there */            \
  X(port_down)            /* egress port has no link */                              \
  X(no_buffer)            /* packet pool exhausted */                                \
  X(handover_full)        /* ring to the owning core full */                         \
  X(canary_truncated)     /* Canary: shorter than header and elements */             \
  X(canary_oversized)     /* Canary: longer than header and elements */              \
  X(canary_version)       /* Canary: version of the header */                        \
  X(canary_malformed)     /* Canary: impossible field */                             \
  X(canary_crc)           /* Canary: damaged on the way */                           \
  X(canary_mismatch)      /* Canary: same block, other type, operator or length */   \
  X(canary_overcount)     /* Canary: more contributions than hosts */                \
  X(canary_duplicate)     /* Canary: contribution that this child sent before */     \
  X(canary_no_descriptor) /* Canary: result for a block that is not held */          \
  X(canary_bad_port)      /* Canary: restoration for a port that does not exist */   \
  X(canary_not_allowed)   /* Canary: the job may not speak on this port */           \
  X(canary_not_served)    /* Canary: no engine configured on this switch */          \
  X(panama_truncated)     /* PANAMA: shorter than header and elements */             \
  X(panama_oversized)     /* PANAMA: longer than header and elements */              \
  X(panama_version)       /* PANAMA: version of the header */                        \
  X(panama_malformed)     /* PANAMA: impossible field, or not to the tree's group */ \
  X(panama_crc)           /* PANAMA: damaged on the way */                           \
  X(panama_no_tree)       /* PANAMA: tree that is not installed here */              \
  X(panama_wrong_port)    /* PANAMA: the tree does not come in by this port */       \
  X(panama_mismatch)      /* PANAMA: same VID, other type, operator, length, FIN */  \
  X(panama_overcount)     /* PANAMA: more contributions than workers below */        \
  X(panama_duplicate)     /* PANAMA: that came here before */                        \
  X(panama_late)          /* PANAMA: the sum had gone without it */                  \
  X(panama_stale)         /* PANAMA: of an epoch or a VID that is past */            \
  X(panama_over_cap)      /* PANAMA: beyond the memory that the tree has */          \
  X(netreduce_icrc)       /* NetReduce: gradient damaged on the way */               \
  X(netreduce_malformed)  /* NetReduce: impossible field, or not of the ring */      \
  X(netreduce_mismatch)   /* NetReduce: other type, operator or length */            \
  X(netreduce_not_member) /* NetReduce: not from the rank to the next */             \
  X(netreduce_rank_taken) /* NetReduce: the rank sends by another connection */      \
  X(netreduce_stale_run)  /* NetReduce: of a run that is over */                     \
  X(netreduce_first_lost) /* NetReduce: the message's first packet did not come */

enum class DropReason : std::uint8_t {
#define TRIBUTARY_ENUMERATOR(reason) reason,
  TRIBUTARY_DROP_REASONS(TRIBUTARY_ENUMERATOR)
#undef TRIBUTARY_ENUMERATOR
};

inline constexpr std::string_view drop_reason_names[] = {
#define TRIBUTARY_NAME(reason) #reason,
    TRIBUTARY_DROP_REASONS(TRIBUTARY_NAME)
#undef TRIBUTARY_NAME
};
inline constexpr std::size_t drop_reason_count = std::size(drop_reason_names);

constexpr std::string_view name(DropReason reason) {
  return drop_reason_names[static_cast<std::size_t>(reason)];
}

using DropCounts = std::array<std::uint64_t, drop_reason_count>;

// What became of the packets of one core of one logical switch, in two accounts.
// Received packets meet exactly one fate: received = forwarded + absorbed + dropped(). A packet
// that is kept (aggregated, or waiting for ARP) counts as absorbed; what comes of it later belongs
// to the second account.
// Originated packets are made here or released after being kept: sums, results for children, ARP,
// ICMP, flood copies. They are sent, or lost for a reason: originated = sent + lost().
// What leaves a port after that, and what its queue drops, is the port's own account.
struct Ledger {
  std::uint64_t received = 0;
  std::uint64_t forwarded = 0;  // went on their way; a flooded packet counts once
  std::uint64_t absorbed = 0;   // consumed, kept, or answered by the switch itself
  DropCounts drops{};           // of received packets
  std::uint64_t originated = 0;
  std::uint64_t sent = 0;
  DropCounts losses{};  // of originated packets

  void drop(DropReason reason) { ++drops[static_cast<std::size_t>(reason)]; }
  void lose(DropReason reason) { ++losses[static_cast<std::size_t>(reason)]; }
  std::uint64_t dropped() const { return total(drops); }
  std::uint64_t lost() const { return total(losses); }
  bool balanced() const {
    return received == forwarded + absorbed + dropped() && originated == sent + lost();
  }

  Ledger& operator+=(const Ledger& other) {
    received += other.received;
    forwarded += other.forwarded;
    absorbed += other.absorbed;
    originated += other.originated;
    sent += other.sent;
    for (std::size_t i = 0; i < drop_reason_count; ++i) {
      drops[i] += other.drops[i];
      losses[i] += other.losses[i];
    }
    return *this;
  }

 private:
  static std::uint64_t total(const DropCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
};

}  // namespace tributary
