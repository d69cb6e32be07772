// SPDX-License-Identifier: BSD-3-Clause
#include "pcap_file.h"

#include <cstdio>
#include <memory>
#include <pcap/pcap.h>
#include <string>

#include "control/text.h"
#include "pcap_feed.h"

namespace tributary::pktgen {
namespace {

constexpr int exit_failed = 1;
constexpr int snapshot_bytes = 65535;

struct ClosePcap {
  void operator()(pcap_t* pcap) const { pcap_close(pcap); }
  void operator()(pcap_dumper_t* dumper) const { pcap_dump_close(dumper); }
};

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
  const std::unique_ptr<pcap_t, ClosePcap> pcap(pcap_open_dead(DLT_EN10MB, snapshot_bytes));
  const std::unique_ptr<pcap_dumper_t, ClosePcap> dumper(
      pcap ? pcap_dump_open(pcap.get(), options.pcap_file.c_str()) : nullptr);
  if (dumper == nullptr) {
    return fail("cannot write --file " + options.pcap_file + ": " +
                (pcap ? pcap_geterr(pcap.get()) : "out of memory"));
  }
  std::uint64_t frames = 0;
  const Sink sink = [&](wire::Bytes frame) {
    pcap_pkthdr header = {};
    header.ts.tv_sec = static_cast<time_t>(frames / 1'000'000);
    header.ts.tv_usec = static_cast<suseconds_t>(frames % 1'000'000);
    header.caplen = header.len = static_cast<bpf_u_int32>(frame.size());
    pcap_dump(reinterpret_cast<u_char*>(dumper.get()), &header,
              reinterpret_cast<const u_char*>(frame.data()));
    ++frames;
  };
  const Stations stations(options.station_ranges());
  HeapPacketPool pool(PacketPool::batch * 4, control::mtu_max + 64);
  if (options.kind == Kind::plain) {
    feed_plain(*options.plain, stations, pool, options.pcap_packets, sink);
  } else {
    feed_canary(options.canary, stations, pool, options.pcap_blocks, *options.pcap_switch, sink);
  }
  // What failed before the last buffer is only to be seen on the stream.
  if (pcap_dump_flush(dumper.get()) != 0 || std::ferror(pcap_dump_file(dumper.get())) != 0) {
    return fail("cannot write all of --file " + options.pcap_file + "; is the disk full?");
  }
  std::printf("# %llu frames in %s\n", static_cast<unsigned long long>(frames),
              options.pcap_file.c_str());
  if (options.kind == Kind::canary) {
    print_neighbours(options, stations);
  }
  return 0;
}

}  // namespace tributary::pktgen
