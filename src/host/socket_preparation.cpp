// SPDX-License-Identifier: BSD-3-Clause
#include "host/socket_preparation.h"

#include <algorithm>

namespace tributary::host {
namespace {

constexpr std::size_t window_auto_min = 4;

}  // namespace

Offer socket_offer(const CommunicatorOptions& options, const DatagramSocket& socket,
                   std::uint32_t payload_bytes, const AutomaticWindow& automatic) {
  const auto fitting =
      socket.packets(automatic.header_bytes + payload_bytes) / automatic.windows_held;
  const auto window = std::clamp<std::size_t>(fitting, window_auto_min, automatic.most);
  Offer offer;
  offer.payload_bytes = payload_bytes;
  offer.window = options.window != 0 ? options.window : static_cast<std::uint32_t>(window);
  return offer;
}

}  // namespace tributary::host
