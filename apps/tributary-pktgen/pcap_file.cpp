// SPDX-License-Identifier: BSD-3-Clause
#include "pcap_file.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <pcap/pcap.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "control/text.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/traffic/feed.h"
#include "protocols/netreduce/traffic/feed.h"
#include "protocols/panama/traffic/feed.h"
#include "switch/switch.h"
#include "traffic/plain_feed.h"

namespace tributary::pktgen {
namespace {

constexpr int exit_failed = 1;
constexpr int snapshot_bytes = 65535;

struct ClosePcap {
  void operator()(pcap_t* pcap) const { pcap_close(pcap); }
  void operator()(pcap_dumper_t* dumper) const { pcap_dump_close(dumper); }
};

class PcapFile {
 public:
  explicit PcapFile(std::string name)
      : name_(std::move(name)),
        pcap_(pcap_open_dead(DLT_EN10MB, snapshot_bytes)),
        dumper_(pcap_ ? pcap_dump_open(pcap_.get(), name_.c_str()) : nullptr) {}

  const std::string& name() const { return name_; }
  bool is_open() const { return dumper_ != nullptr; }
  std::string error() const { return pcap_ ? pcap_geterr(pcap_.get()) : "out of memory"; }
  std::uint64_t frames() const { return frames_; }

  void write(const Packet& frame) {
    pcap_pkthdr header = {};
    header.ts.tv_sec = static_cast<time_t>(frames_ / 1'000'000);
    header.ts.tv_usec = static_cast<suseconds_t>(frames_ % 1'000'000);
    header.caplen = header.len = static_cast<bpf_u_int32>(frame.length);
    pcap_dump(reinterpret_cast<u_char*>(dumper_.get()), &header,
              reinterpret_cast<const u_char*>(frame.data()));
    ++frames_;
    if (std::ferror(pcap_dump_file(dumper_.get())) != 0) {  // the rest would take long as well
      throw std::runtime_error(incomplete());
    }
  }
  std::string incomplete() const {
    return "cannot write all of --file " + name_ + "; is the disk full?";
  }
  // What failed before the last buffer is only to be seen on the stream.
  bool finish() {
    return pcap_dump_flush(dumper_.get()) == 0 && std::ferror(pcap_dump_file(dumper_.get())) == 0;
  }

 private:
  std::string name_;
  std::unique_ptr<pcap_t, ClosePcap> pcap_;
  std::unique_ptr<pcap_dumper_t, ClosePcap> dumper_;
  std::uint64_t frames_ = 0;
};

// Cores of Canary's switch have a file each, and ports of PANAMA's.
std::size_t file_count(const Options& options) {
  return options.kind == Kind::panama ? options.ports.size() : options.pcap_cores;
}

// "feed.pcap"; if there are several "feed.0.pcap" and so on.
std::string name_of(const Options& options, std::size_t number) {
  if (file_count(options) == 1) {
    return options.pcap_file;
  }
  std::filesystem::path path(options.pcap_file);
  const auto extension = path.extension().string();
  return path.replace_extension(std::to_string(number) + extension).string();
}

int fail(const std::string& message) {
  std::fprintf(stderr, "tributary-pktgen: %s\n", message.c_str());
  return exit_failed;
}

// A switch that is fed by a file cannot ask for its neighbours.
void print_neighbours(std::uint32_t hosts, const traffic::Stations& stations) {
  std::printf("# The switch cannot ask for its neighbours; put this into its configuration:\n");
  for (std::uint32_t i = 0; i < hosts; ++i) {
    std::printf("[[switch.arp]]\naddress = \"%s\"\nmac = \"%s\"\n",
                control::to_string(stations.address(0, i)).c_str(),
                control::to_string(stations.mac(0, i)).c_str());
  }
}

// What a switch needs that has these files at ports feed0, feed1 and so on.
void print_trees(const panama::TrafficPlan& plan) {
  std::string children;
  for (std::size_t port = 0; port < plan.workers; ++port) {
    children += (port == 0 ? "\"feed" : ", \"feed") + std::to_string(port) + '"';
  }
  std::printf("# Trees for the switch's configuration:\n");
  for (std::uint32_t i = 0; i < plan.jobs * plan.trees; ++i) {
    std::printf(
        "[[switch.panama.tree]]\njob = %u\ntree = %u\ngroup = \"%s\"\nchildren = [%s]\n"
        "workers = %u\nworkers_below = %u\n",
        plan.first_job + i / plan.trees, i % plan.trees,
        control::to_string(wire::Ipv4Address(plan.group.value() + i)).c_str(), children.c_str(),
        unsigned{plan.workers}, unsigned{plan.workers});
  }
}

void print_rings(const netreduce::TrafficPlan& plan, const traffic::Stations& stations) {
  std::string members;
  for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
    members += (rank == 0 ? "\"" : ", \"") + control::to_string(stations.address(0, rank)) + '"';
  }
  std::printf("[switch.netreduce]\n");
  for (std::uint32_t job = 0; job < plan.jobs; ++job) {
    std::printf(
        "[[switch.netreduce.ring]]\nid = %u\nmembers = [%s]\nmessage_packets = %u\nmtu = %u\n",
        plan.first_ring + job, members.c_str(), unsigned{plan.message_packets},
        unsigned{plan.path_mtu});
  }
}

}  // namespace

int write_pcap(const Options& options) {
  std::vector<PcapFile> files;
  for (std::size_t number = 0; number < file_count(options); ++number) {
    files.emplace_back(name_of(options, number));
    if (!files.back().is_open()) {
      return fail("cannot write --file " + files.back().name() + ": " + files.back().error());
    }
  }
  switching::SwitchConfig blocks_have_owners;
  blocks_have_owners.protocols.emplace<canary::CanaryConfig>();
  const traffic::Sink sink = [&](Packet& frame) {
    files[switching::owner_core(frame, blocks_have_owners, 0, options.pcap_cores)].write(frame);
  };
  const traffic::Stations stations(options.station_ranges());
  HeapPacketPool pool(PacketPool::batch * 4, control::mtu_max + 64);
  if (options.kind == Kind::plain) {
    traffic::feed_plain(*options.plain, stations, pool, options.pcap_packets, sink);
  } else if (options.kind == Kind::panama) {
    panama::feed_panama(options.panama, stations, pool, options.pcap_collectives,
                        [&](std::size_t port, Packet& frame) { files[port].write(frame); });
  } else if (options.kind == Kind::netreduce) {
    netreduce::feed_netreduce(options.netreduce, stations, pool, options.pcap_messages, sink);
  } else {
    canary::feed_canary(options.canary, stations, pool, options.pcap_blocks, *options.pcap_switch,
                        sink);
  }
  for (auto& file : files) {
    if (!file.finish()) {
      return fail(file.incomplete());
    }
    std::printf("# %llu frames in %s\n", static_cast<unsigned long long>(file.frames()),
                file.name().c_str());
  }
  if (options.kind == Kind::canary) {
    print_neighbours(options.canary.hosts, stations);
  } else if (options.kind == Kind::netreduce) {
    print_neighbours(options.netreduce.workers, stations);
    print_rings(options.netreduce, stations);
  } else if (options.kind == Kind::panama) {
    print_trees(options.panama);
  }
  return 0;
}

}  // namespace tributary::pktgen
