// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/kernel_losses.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <sys/socket.h>
#include <utility>

namespace tributary::dataplane {
namespace {

template <typename Value>
bool ask(int socket, int level, int option, Value& value) {
  socklen_t size = sizeof value;
  return getsockopt(socket, level, option, &value, &size) == 0;
}

// Returns those of this process, sorted.
std::vector<int> sockets_for_frames() {
  std::vector<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto name = entry.path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    int domain = 0;
    if (ask(descriptor, SOL_SOCKET, SO_DOMAIN, domain) &&
        (domain == AF_PACKET || domain == AF_XDP)) {
      found.push_back(descriptor);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Returns how many it dropped since this was asked last.
std::uint64_t take_drops_of_packet_socket(int socket) {
  tpacket_stats counted = {};
  return ask(socket, SOL_PACKET, PACKET_STATISTICS, counted) ? counted.tp_drops : 0;
}

// Returns a count since it was opened. What else an AF_XDP socket dropped, its driver tells.
std::uint64_t beyond_ring_of_xdp_socket(int socket) {
  xdp_statistics counted = {};
  return ask(socket, SOL_XDP, XDP_STATISTICS, counted) ? counted.rx_ring_full : 0;
}

// A counter begins anew where the interface was made again.
std::uint64_t growth(std::uint64_t before, std::uint64_t now) {
  return now >= before ? now - before : now;
}

}  // namespace

KernelLosses::KernelLosses(std::string interface, Side side)
    : interface_(std::move(interface)), side_(side), sockets_(sockets_for_frames()) {}

void KernelLosses::watch() {
  const auto all = sockets_for_frames();
  std::vector<int> opened;
  std::set_difference(all.begin(), all.end(), sockets_.begin(), sockets_.end(),
                      std::back_inserter(opened));
  sockets_ = std::move(opened);
  told_ = interface_losses(interface_).value_or(InterfaceLosses{});
}

void KernelLosses::count() {
  std::uint64_t told_by_rings = 0;
  for (const int socket : sockets_) {
    missed_ += take_drops_of_packet_socket(socket);
    told_by_rings += beyond_ring_of_xdp_socket(socket);
  }
  missed_ += growth(std::exchange(told_by_rings_, told_by_rings), told_by_rings);
  count_interface();
}

void KernelLosses::count_interface() {
  const auto now = interface_losses(interface_);
  if (!now) {
    return;
  }
  const auto before = std::exchange(told_, *now);
  auto in = growth(before.missed, now->missed);
  auto out = growth(before.unsent, now->unsent);
  if (side_ == Side::far) {
    std::swap(in, out);
  }
  missed_ += in;
  unsent_ += out;
}

}  // namespace tributary::dataplane
