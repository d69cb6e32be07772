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

#include "failure.h"
#include "output_file.h"
#include "packet/pool.h"

namespace tributary::pktgen {
namespace {

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

// A single file is called "feed.pcap"; several are called "feed.0.pcap" and so on.
std::string name_of(const Options& options, std::size_t number) {
  if (options.kind->files() == 1) {
    return options.pcap_file;
  }
  std::filesystem::path path(options.pcap_file);
  const auto extension = path.extension().string();
  return path.replace_extension(std::to_string(number) + extension).string();
}

}  // namespace

int write_pcap(const Options& options) {
  std::vector<PcapFile> files;
  for (std::size_t number = 0; number < options.kind->files(); ++number) {
    files.emplace_back(name_of(options, number));
    if (!files.back().is_open()) {
      return fail("cannot write --file " + files.back().name() + ": " + files.back().error());
    }
  }
  const traffic::Stations stations(options.conditions.stations);
  HeapPacketPool pool(PacketPool::batch * 4, control::mtu_max + 64);
  const auto edge = options.kind->edge(stations);
  options.kind->feed({stations, pool, [&](std::size_t number, Packet& frame) {
                        edge.leave(frame);
                        files[number].write(frame);
                      }});
  for (auto& file : files) {
    if (!file.finish()) {
      return fail(file.incomplete());
    }
    std::printf("# %llu frames in %s\n", static_cast<unsigned long long>(file.frames()),
                file.name().c_str());
  }
  std::fputs(options.kind->switch_settings(stations).c_str(), stdout);
  const auto written = flush_output(stdout, "the settings of the switch", "to standard output");
  return written ? 0 : fail(written.error());
}

}  // namespace tributary::pktgen
