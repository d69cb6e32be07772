// SPDX-License-Identifier: BSD-3-Clause
#include "frame_file.h"

#include <memory>
#include <pcap/pcap.h>

namespace tributary::pktgen {
namespace {

struct ClosePcap {
  void operator()(pcap_t* pcap) const { pcap_close(pcap); }
};

}  // namespace

tl::expected<dataplane::FeedFrames, std::string> read_frames(const std::string& file,
                                                             std::uint32_t bytes_max) {
  char error[PCAP_ERRBUF_SIZE] = "";
  const std::unique_ptr<pcap_t, ClosePcap> pcap(pcap_open_offline(file.c_str(), error));
  if (pcap == nullptr) {
    return tl::unexpected("cannot read " + file + ": " + error);
  }
  if (pcap_datalink(pcap.get()) != DLT_EN10MB) {
    return tl::unexpected(file + " has no Ethernet frames");
  }
  dataplane::FeedFrames frames;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  int got = 0;
  while ((got = pcap_next_ex(pcap.get(), &header, &data)) == 1) {
    if (header->caplen > bytes_max) {
      return tl::unexpected(file + " has a frame of " + std::to_string(header->caplen) +
                            " bytes; the port's mtu allows " + std::to_string(bytes_max) +
                            "; make it larger");
    }
    frames.add(reinterpret_cast<const std::byte*>(data), header->caplen);
  }
  if (got == PCAP_ERROR) {
    return tl::unexpected("cannot read " + file + ": " + pcap_geterr(pcap.get()));
  }
  if (frames.frames().empty()) {
    return tl::unexpected(file + " is empty");
  }
  return frames;
}

}  // namespace tributary::pktgen
