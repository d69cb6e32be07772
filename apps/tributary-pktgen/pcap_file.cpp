// SPDX-License-Identifier: BSD-3-Clause
#include "pcap_file.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <pcap/pcap.h>
#include <string>
#include <utility>
#include <vector>

#include "control/text.h"
#include "pcap_feed.h"
#include "switch/switch.h"

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

// "feed.pcap"; with several cores "feed.0.pcap" and so on.
std::string name_of(const Options& options, unsigned core) {
  if (options.pcap_cores == 1) {
    return options.pcap_file;
  }
  std::filesystem::path path(options.pcap_file);
  const auto extension = path.extension().string();
  return path.replace_extension(std::to_string(core) + extension).string();
}

int fail(const std::string& message) {
  std::fprintf(stderr, "tributary-pktgen: %s\n", message.c_str());
  return exit_failed;
}

// A switch that is fed by a file cannot ask for its neighbours.
void print_neighbours(const Options& options, const Stations& stations) {
  std::printf("# The switch cannot ask for the leaders; put this into its configuration:\n");
  for (std::uint32_t i = 0; i < options.canary.hosts; ++i) {
    std::printf("[[switch.arp]]\naddress = \"%s\"\nmac = \"%s\"\n",
                control::to_string(stations.address(0, i)).c_str(),
                control::to_string(stations.mac(0, i)).c_str());
  }
}

}  // namespace

int write_pcap(const Options& options) {
  std::vector<PcapFile> files;
  for (unsigned core = 0; core < options.pcap_cores; ++core) {
    files.emplace_back(name_of(options, core));
    if (!files.back().is_open()) {
      return fail("cannot write --file " + files.back().name() + ": " + files.back().error());
    }
  }
  switching::SwitchConfig blocks_have_owners;
  blocks_have_owners.canary.emplace();
  const Sink sink = [&](Packet& frame) {
    files[switching::owner_core(frame, blocks_have_owners, 0, options.pcap_cores)].write(frame);
  };
  const Stations stations(options.station_ranges());
  HeapPacketPool pool(PacketPool::batch * 4, control::mtu_max + 64);
  if (options.kind == Kind::plain) {
    feed_plain(*options.plain, stations, pool, options.pcap_packets, sink);
  } else {
    feed_canary(options.canary, stations, pool, options.pcap_blocks, *options.pcap_switch, sink);
  }
  for (auto& file : files) {
    if (!file.finish()) {
      return fail("cannot write all of --file " + file.name() + "; is the disk full?");
    }
    std::printf("# %llu frames in %s\n", static_cast<unsigned long long>(file.frames()),
                file.name().c_str());
  }
  if (options.kind == Kind::canary) {
    print_neighbours(options, stations);
  }
  return 0;
}

}  // namespace tributary::pktgen
