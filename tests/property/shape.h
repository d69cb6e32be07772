// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocols/canary/wire.h"

namespace tributary::test {

// All parameters of one trial, as plain numbers: a line of text replays it, however the drawing of
// shapes changes later. Draws within a trial (late ranks, lossy ports, the data) depend on `seed`
// and on streams of their own, so that a new field does not change the meaning of old lines. The
// second column is the harmless value, which shrinking tries first, and which text leaves out.
#define TRIBUTARY_SHAPE(X)                                                                  \
  X(seed, 1)                                                                                \
  /* fabric */                                                                              \
  X(levels, 1)          /* of switches, 1 to 3 */                                           \
  X(pods, 1)            /* with three levels */                                             \
  X(leaves, 1)          /* per pod */                                                       \
  X(spines, 1)          /* per pod */                                                       \
  X(roots, 1)           /* with three levels: per spine of a pod */                         \
  X(hosts, 4)           /* per leaf */                                                      \
  X(bridged, 0)         /* hosts are on the leaf's bridge, not behind routed ports */       \
  X(vlan, 0)            /* of bridged hosts; 0: there are no VLANs */                       \
  X(tagged, 0)          /* hosts have that VLAN's tag; else they are on access ports */     \
  X(trunks, 0)          /* cables between switches carry that VLAN, and join the bridges */ \
  X(ipv6, 0)            /* in place of IPv4, by addresses that embed those */               \
  X(ordinary, 0)        /* thousandths of the switches that have no engine */               \
  X(cores, 1)           /* per switch */                                                    \
  X(ring_loss, 0)       /* of partial sums between cores */                                 \
  X(rate_mbit, 0)       /* 0: not shaped */                                                 \
  X(queue_kib, 1024)    /* of every port */                                                 \
  X(classes, 0)         /* of traffic, on all ports: strict, with a rate, and the rest */   \
  X(ordinary_policy, 0) /* of the choice among up-ports: forwarding::Policy */              \
  X(reduction_policy, 0)                                                                    \
  X(trees, 1) /* of the policy "static" */                                                  \
  /* engines */                                                                             \
  X(descriptors, 256)                                                                       \
  X(adaptive, 0) /* timeouts; timeout_us is then the greatest */                            \
  X(timeout_us, 500)                                                                        \
  X(root_timeout_us, 5000)                                                                  \
  X(learn, 1)                                                                               \
  X(reclaim_ms, 500)                                                                        \
  X(age_ms, 5000)                                                                           \
  X(job_quota, 0) /* of descriptors; 0: a share of the table */                             \
  X(port_quota, 0)                                                                          \
  X(partitions, 0)                                                                          \
  /* jobs */                                                                                \
  X(jobs, 1)                                                                                \
  X(world, 2)                                                                               \
  X(crowd, 0)    /* several workers of a job may share a host */                            \
  X(ethernet, 0) /* Canary directly over Ethernet */                                        \
  X(payload, 64) /* bytes of a block */                                                     \
  X(window, 8)                                                                              \
  X(first_sequence, 0)                                                                      \
  X(collectives, 1)    /* of each job, one after the other */                               \
  X(elements, 64)      /* at most, per collective */                                        \
  X(mixed_types, 0)    /* 0: i32 and sum */                                                 \
  X(mixed_kinds, 0)    /* 0: allreduce */                                                   \
  X(handlers, 0)       /* 1: some reductions of Canary and Flare are by handlers */         \
  X(late, 0)           /* thousandths of all calls that begin late */                       \
  X(late_us, 1000)     /* by how much at most */                                            \
  X(attempts, 4)       /* in the network */                                                 \
  X(retained_kib, 256) /* up to here completion is implicit */                              \
  X(deadline_ms, 600000)                                                                    \
  /* cables: each fault in 1/10000 on `bad_ports` thousandths of the ports */               \
  X(bad_ports, 0)                                                                           \
  X(loss, 0)                                                                                \
  X(duplicate, 0)                                                                           \
  X(reorder, 0)                                                                             \
  X(corrupt, 0)                                                                             \
  X(delay_us, 0)   /* at most */                                                            \
  X(jitter_us, 0)  /* at most */                                                            \
  X(stray, 0)      /* 1/10000 of all frames that come again much later */                   \
  X(stray_ms, 100) /* by how much at most */                                                \
  X(forged, 0)     /* 1/10000 of all frames that a stranger's follows */                    \
  X(marked, 0)     /* 1/10000 of all frames that a queue has marked (ECN) */                \
  /* events, spread over `event_ms` */                                                      \
  X(event_ms, 20)                                                                           \
  X(restarts, 0)     /* of switches */                                                      \
  X(flaps, 0)        /* cables between switches pulled and plugged in again */              \
  X(flap_ms, 100)    /* for how long at most */                                             \
  X(cuts, 0)         /* cables pulled for good */                                           \
  X(deaths, 0)       /* workers that die: of job 0; with NetReduce or Flare of any job */   \
  X(outages, 0)      /* cables, also of hosts, that are pulled for longer */                \
  X(suspended, 0)    /* hosts whose workers stand still, and hear nothing */                \
  X(outage_ms, 1000) /* for how long at most */                                             \
  /* PANAMA */                                                                              \
  X(panama, 0)             /* so many of the jobs, the first ones */                        \
  X(panama_trees, 1)       /* of each of them */                                            \
  X(packet_memory, 512)    /* at least as much as the trees need */                         \
  X(congestion_control, 1) /* 0: windows are what the switches have room for */             \
  X(missing, 0)            /* ranks that a result may do without */                         \
  X(ecn_packets, 85)       /* queues mark what finds more waiting; 0: nothing */            \
  /* NetReduce */                                                                           \
  X(netreduce, 0)       /* so many of the jobs, those behind PANAMA's */                    \
  X(runs, 1)            /* of each, and of Flare's: communicators after each other */       \
  X(ring_window, 2)     /* messages */                                                      \
  X(message_packets, 4) /* of a full message */                                             \
  X(mtu, 256)           /* payload bytes of a packet */                                     \
  /* Flare */                                                                               \
  X(flare, 0)         /* so many of the jobs, those behind NetReduce's */                   \
  X(flare_window, 8)  /* blocks */                                                          \
  X(reproducible, 0)  /* switches add in an order of their own, not in that of arrival */   \
  X(sparse_window, 0) /* blocks; some allreduces are sparse; 0: none */

struct Shape {
#define TRIBUTARY_FIELD(name, harmless) std::uint64_t name = harmless;
  TRIBUTARY_SHAPE(TRIBUTARY_FIELD)
#undef TRIBUTARY_FIELD
  friend bool operator==(const Shape&, const Shape&) = default;
};

// Streams of random numbers that do not disturb each other.
enum class Stream : std::uint64_t { shape, fabric, cables, jobs, data, events, trees, rings };
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t state) : state_(state) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~std::uint64_t{0}; }
  result_type operator()() { return wire::mix_key(state_ += 0x9e3779b97f4a7c15ULL, 0); }

 private:
  std::uint64_t state_;
};
inline Random stream_of(std::uint64_t seed, Stream stream, std::uint64_t part = 0) {
  const auto which = (static_cast<std::uint64_t>(stream) << 32) | part;
  return Random(wire::mix_key(wire::mix_key(seed, 0x5eed), which));
}

Shape random_shape(std::uint64_t seed);

// Returns "name=value ..." of all fields that are not harmless.
std::string to_text(const Shape& shape);
std::optional<Shape> shape_of(std::string_view text);

// Jobs are known by their numbers, from 0.
inline bool is_panama(const Shape& shape, std::uint32_t job) {
  return job < shape.panama;
}

inline bool is_netreduce(const Shape& shape, std::uint32_t job) {
  return job >= shape.panama && job < shape.panama + shape.netreduce;
}

inline bool is_flare(const Shape& shape, std::uint32_t job) {
  const auto first = shape.panama + shape.netreduce;
  return job >= first && job < first + shape.flare;
}

// Whether every collective has to succeed, except where a longer outage interrupts it.
inline bool must_succeed_undisturbed(const Shape& shape) {
  return shape.deaths == 0 && shape.cuts == 0 && shape.loss <= 1000;
}
// Whether something is away for longer, or forgets its state.
inline bool is_interrupted(const Shape& shape) {
  return shape.restarts + shape.outages + shape.suspended != 0;
}
// Whether every collective of this job has to succeed. When a switch restarts and forgets a result,
// some ranks of a NetReduce job may have received it, and they do not send their packets again for
// the ranks that have not; and connections end when acknowledgements are missing for long. Where
// results may do without some ranks, those ranks may need a result that a restarted switch has
// forgotten, and that the others no longer keep.
inline bool must_succeed(const Shape& shape, std::uint32_t job) {
  if (is_panama(shape, job) && shape.restarts != 0 && shape.missing != 0) {
    return false;
  }
  return must_succeed_undisturbed(shape) && !(is_interrupted(shape) && is_netreduce(shape, job));
}
inline bool must_succeed(const Shape& shape) {
  for (std::uint32_t job = 0; job < shape.jobs; ++job) {
    if (!must_succeed(shape, job)) {
      return false;
    }
  }
  return true;
}

}  // namespace tributary::test
