// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "host/communicator_options.h"
#include "host/datagram.h"
#include "host/protocol.h"
#include "host/transport/datagram_socket.h"
#include "host/transport/uring_transport.h"

namespace tributary::host {

// Bounds the window of a rank that was given none: the receive buffer holds `windows_held` such
// windows of full packets.
struct AutomaticWindow {
  std::size_t header_bytes = 0;  // of a packet, in front of its payload
  std::size_t windows_held = 1;
  std::uint32_t most = 0;
};

// Returns the offer without its port.
Offer socket_offer(const CommunicatorOptions& options, const DatagramSocket& socket,
                   std::uint32_t payload_bytes, const AutomaticWindow& automatic);

// The preparation of a protocol with one socket. `make` makes the carrier from the meeting and the
// transport.
template <typename Make>
class SocketPreparation final : public Preparation {
 public:
  SocketPreparation(UringTransport transport, const Offer& offer, Make make)
      : transport_(std::move(transport)), offer_(offer), make_(std::move(make)) {}

  Offer offer() const override { return offer_; }
  Result<std::unique_ptr<Carrier>> join(const Meeting& meeting) override {
    return make_(meeting, std::move(transport_));
  }

 private:
  UringTransport transport_;
  Offer offer_;
  Make make_;
};

template <typename Make>
Result<std::unique_ptr<Preparation>> prepare_socket(DatagramSocket socket, Offer offer, Make make) {
  offer.port = socket.local.port;
  auto transport =
      UringTransport::create(std::move(socket), Datagram::header_bytes_max + offer.payload_bytes +
                                                    Datagram::trailer_bytes_max);
  if (!transport) {
    return tl::make_unexpected(transport.error());
  }
  return std::make_unique<SocketPreparation<Make>>(std::move(*transport), offer, std::move(make));
}

}  // namespace tributary::host
