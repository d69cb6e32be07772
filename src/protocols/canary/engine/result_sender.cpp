// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/result_sender.h"

#include <utility>

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::canary {
namespace {

// A shorter payload is copied in the time that counting its holders takes.
constexpr std::size_t shared_bytes_min = 512;

// Fills in the destination of a header that was finished without one.
void set_destination(wire::Ipv4Header& ip, wire::Ipv4Address address) {
  ip.checksum = wire::fill_in_checksum(ip.checksum.value(), address.value());
  ip.destination = address;
}

// These headers are in front of the elements, prepared for all children, and addressed to one of
// them.
struct [[gnu::packed]] RawHeaders {
  wire::EthernetHeader ethernet;
  wire::CanaryHeader canary;

  void address_to(const Child& child) {
    ethernet.destination = child.mac;
    wire::address_to_child(canary, child.address, child.udp_port);
  }
};
struct [[gnu::packed]] RoutedHeaders {
  wire::EthernetHeader ethernet;
  wire::Ipv4Header ipv4;
  wire::UdpHeader udp;
  wire::CanaryHeader canary;

  void address_to(const Child& child) {
    ethernet.destination = child.mac;
    set_destination(ipv4, child.address);
    udp.destination_port = child.udp_port;
    wire::address_to_child(canary, child.address, child.udp_port);
  }
};

}  // namespace

void ResultSender::send(PacketPtr packet, const Message& message, std::span<const Child> children,
                        engine::Actions& actions) {
  prepare_result(*packet, message, self_);
  const auto bytes = message.payload.size();
  auto copies = message.is_udp() ? copies_for<RoutedHeaders>(children, std::move(packet), bytes)
                                 : copies_for<RawHeaders>(children, std::move(packet), bytes);
  copies_ += copies.size();
  for (auto missing = children.size() - copies.size(); missing > 0; --missing) {
    actions.lose(DropReason::no_buffer);
  }
  actions.originate_all(std::move(copies));
}

// Makes the copies that find a buffer. Each child gets headers of its own in front of the same
// elements; few elements are copied.
template <typename Headers>
PacketList ResultSender::copies_for(std::span<const Child> children, PacketPtr packet,
                                    std::size_t payload_bytes) {
  PacketList copies;
  const auto add = [&copies](PacketPtr copy, const Child& child) {
    if (copy != nullptr) {
      reinterpret_cast<Headers*>(copy->data())->address_to(child);
      copy->egress = child.port;
      copies.push(std::move(copy));
    }
  };
  if (children.size() == 1 || payload_bytes < shared_bytes_min) {
    for (const auto& child : children.first(children.size() - 1)) {
      add(pool_.clone(*packet), child);
    }
    add(std::move(packet), children.back());
    return copies;
  }
  auto& body = *packet.release();
  const wire::Bytes headers(body.data(), sizeof(Headers));
  body.narrow_to(headers.size(), payload_bytes);
  pool_.share(body, static_cast<unsigned>(children.size()));
  for (const auto& child : children) {
    add(pool_.allocate_in_front_of(body, headers), child);
  }
  return copies;
}

}  // namespace tributary::canary
