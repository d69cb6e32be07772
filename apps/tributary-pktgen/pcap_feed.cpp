// SPDX-License-Identifier: BSD-3-Clause
#include "pcap_feed.h"

#include <algorithm>

#include "canary_frames.h"
#include "canary_values.h"
#include "neighbours.h"

namespace tributary::pktgen {
namespace {

// The blocks of one job.
class CanaryFeed {
 public:
  CanaryFeed(const CanaryPlan& plan, const CanaryJob& job, const CanaryRanks& ranks,
             const CanaryFrames& frames, const Neighbours& neighbours, PacketPool& pool)
      : plan_(plan),
        job_(job),
        ranks_(ranks),
        frames_(frames),
        neighbours_(neighbours),
        pool_(pool),
        values_(job.type, job.op, job.hosts, job.elements) {}

  void group(std::uint32_t first, std::uint32_t count, wire::Ipv4Address switch_address,
             const Sink& sink) const {
    for (std::uint32_t rank = 0; rank < plan_.hosts; ++rank) {
      for (std::uint32_t id = first; id < first + count; ++id) {
        if (ranks_.leader_of(id) != rank) {
          contribution(id, rank, sink);
        }
      }
    }
    for (std::uint32_t id = first; id < first + count; ++id) {
      const auto packet = pool_.allocate();
      frames_.result(*packet, job_, id, switch_address, next_hop(id), values_.sum(shift_of(id)));
      sink(*packet);
    }
  }

 private:
  std::uint32_t shift_of(std::uint32_t id) const { return id % CanaryValues::shifts; }
  wire::MacAddress next_hop(std::uint32_t id) const {
    return neighbours_.next_hop(0, ranks_[ranks_.leader_of(id)].mac);
  }
  void contribution(std::uint32_t id, std::uint32_t rank, const Sink& sink) const {
    const auto packet = pool_.allocate();
    const auto shift = shift_of(id);
    frames_.contribution(*packet, job_, id, rank, next_hop(id), values_.part(rank, shift),
                         values_.part_crc(rank, shift));
    sink(*packet);
  }

  const CanaryPlan& plan_;
  CanaryJob job_;
  const CanaryRanks& ranks_;
  const CanaryFrames& frames_;
  const Neighbours& neighbours_;
  PacketPool& pool_;
  CanaryValues values_;
};

// The trees of all jobs.
class PanamaFeed {
 public:
  PanamaFeed(const PanamaPlan& plan, const Stations& stations, PacketPool& pool)
      : plan_(plan), places_(plan, stations.ports()), pool_(pool) {
    for (const auto& kind : plan.kinds) {
      values_.emplace_back(kind.type, kind.op, plan.workers, plan.elements);
    }
    for (std::uint32_t job = 0; job < plan.jobs; ++job) {
      for (std::uint16_t tree = 0; tree < plan.trees; ++tree) {
        trees_.emplace_back(plan, places_, stations, job, tree);
      }
    }
  }

  // What all workers send to all trees.
  void packets(const PanamaPosition& at, const PortSink& sink) const {
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      const auto job = static_cast<std::uint32_t>(i / plan_.trees);
      for (std::uint32_t rank = 0; rank < plan_.workers; ++rank) {
        const auto packet = pool_.allocate();
        trees_[i].contribution(*packet, at, rank, values_[job % values_.size()]);
        sink(places_.port_of(job, rank), *packet);
      }
    }
  }

 private:
  const PanamaPlan& plan_;
  PanamaPlaces places_;
  PacketPool& pool_;
  std::vector<CanaryValues> values_;
  std::vector<PanamaFrames> trees_;
};

// The places of one run, in groups that each worker sends before the next one does. Message 0 is a
// group by itself.
std::vector<std::vector<NetReducePlace>> turns_of(const NetReducePlan& plan,
                                                  std::uint32_t messages) {
  std::vector<std::vector<NetReducePlace>> turns = {{NetReducePlace{}}, {}};
  std::uint64_t sequence = 0;
  for (std::uint32_t message = 1; message < messages; ++message) {
    for (std::uint32_t offset = 0; offset < plan.message_packets; ++offset) {
      if (turns.back().size() == plan.interleave) {
        turns.emplace_back();
      }
      turns.back().push_back({0, message, offset, ++sequence});
    }
  }
  return turns;
}

}  // namespace

void feed_panama(const PanamaPlan& plan, const Stations& stations, PacketPool& pool,
                 std::uint32_t collectives, const PortSink& sink) {
  const PanamaFeed feed(plan, stations, pool);
  const auto step = static_cast<std::uint32_t>((std::uint64_t{1} << 32) / collectives);
  for (std::uint32_t collective = 0; collective < collectives; ++collective) {
    for (std::uint32_t vid = 0; vid < plan.collective; ++vid) {
      feed.packets({collective * step, vid}, sink);
    }
  }
}

void feed_netreduce(const NetReducePlan& plan, const Stations& stations, PacketPool& pool,
                    std::uint32_t messages, const Sink& sink) {
  const Neighbours neighbours(stations, pool);
  const CanaryRanks ranks(stations, plan.workers);
  std::vector<CanaryValues> values;
  for (const auto& kind : plan.kinds) {
    values.emplace_back(kind.type, kind.op, plan.workers, plan.elements(kind.type));
  }
  for (std::uint32_t run = 0; run < netreduce_runs; ++run) {
    for (const auto& turn : turns_of(plan, messages)) {
      for (std::uint32_t job = 0; job < plan.jobs; ++job) {
        const NetReduceFrames frames(plan, ranks, neighbours, job);
        const auto& numbers = values[job % values.size()];
        for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
          for (auto place : turn) {
            place.run = plan.first_run + run;
            const auto packet = pool.allocate();
            frames.gradient(*packet, place, rank, numbers);
            sink(*packet);
          }
        }
      }
    }
  }
}

void feed_plain(const PlainPlan& plan, const Stations& stations, PacketPool& pool,
                std::uint64_t frames, const Sink& sink) {
  const Neighbours neighbours(stations, pool);
  PlainTraffic traffic(plan, stations, neighbours, pool);
  Pacer pacer;
  pacer.start({}, Time{});
  Outbox out(stations.ports());
  for (std::uint64_t i = 0; i < frames; ++i) {
    traffic.send(1, Time{}, pacer, out);
    for (auto& queue : out) {
      while (const auto packet = queue.pop()) {
        sink(*packet);
      }
    }
  }
}

void feed_canary(const CanaryPlan& plan, const Stations& stations, PacketPool& pool,
                 std::uint32_t blocks, wire::Ipv4Address switch_address, const Sink& sink) {
  const Neighbours neighbours(stations, pool);
  const CanaryRanks ranks(stations, plan.hosts);
  const CanaryFrames frames(plan.encapsulation, ranks);
  std::vector<CanaryFeed> jobs;
  for (std::uint32_t j = 0; j < plan.jobs; ++j) {
    const auto& kind = plan.kinds[j % plan.kinds.size()];
    const CanaryJob job{plan.first_job + j, kind.type, kind.op, plan.elements, plan.hosts};
    jobs.emplace_back(plan, job, ranks, frames, neighbours, pool);
  }
  for (std::uint32_t first = 0; first < blocks; first += plan.interleave) {
    for (const auto& job : jobs) {
      job.group(first, std::min(plan.interleave, blocks - first), switch_address, sink);
    }
  }
}

}  // namespace tributary::pktgen
