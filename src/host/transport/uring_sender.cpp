// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/uring_sender.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

#include "host/payload.h"
#include "host/transport/address.h"
#include "wire/endian.h"

namespace tributary::host {
namespace {

bool is_transient(int error) {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR;
}

sockaddr_ll next_switch_on(const EthernetLink& ethernet) {
  sockaddr_ll link{};
  link.sll_family = AF_PACKET;
  link.sll_protocol = std::bit_cast<std::uint16_t>(wire::be16{ethernet.ethertype});
  link.sll_ifindex = ethernet.interface_index;
  link.sll_halen = sizeof(wire::MacAddress);
  std::copy(ethernet.group.octets.begin(), ethernet.group.octets.end(), link.sll_addr);
  return link;
}

std::size_t bytes_of(const msghdr& message) {
  std::size_t bytes = 0;
  for (const auto& part : std::span(message.msg_iov, message.msg_iovlen)) {
    bytes += part.iov_len;
  }
  return bytes;
}

// Returns what the interface counts of a packet: over Ethernet, what is behind its header.
std::size_t packet_bytes(const DatagramSocket& socket, const msghdr& message) {
  const bool by_ip = socket.ethernet.interface_index == 0;
  return bytes_of(message) + (by_ip ? udp_headers_bytes + socket.local.more_header_bytes() : 0);
}

// The kernel refuses nothing for the sake of the path: only the interface has too small an MTU. It
// need not be the one that has the local address, as that may be the loopback's.
Error too_large(std::size_t bytes, const Endpoint& local) {
  const auto interface = interface_of(local.ip());
  const bool is_known = interface && interface->mtu < bytes;
  return {Error::Code::network,
          "a packet of " + std::to_string(bytes) +
              " bytes is larger than the MTU of the interface" +
              (is_known ? " " + interface->name + ", " + std::to_string(interface->mtu)
                        : " by which it leaves") +
              ": give the interface a larger one, or make the communicator with a smaller one "
              "(TRIBUTARY_MTU)"};
}

}  // namespace

UringSender::UringSender(io_uring& ring, const DatagramSocket& socket)
    : ring_(ring), socket_(socket), slots_(slot_count) {
  for (unsigned slot = slot_count; slot-- > 0;) {
    free_slots_.push_back(slot);
  }
}

void UringSender::queue(Outbox& outbox) {
  while (!retries_.empty() && prepare(retries_.back())) {
    retries_.pop_back();
  }
  while (!outbox.empty() && !free_slots_.empty()) {
    const auto slot = free_slots_.back();
    fill(slots_[slot], outbox.front());
    if (!prepare(slot)) {
      return;
    }
    free_slots_.pop_back();
    outbox.pop();
  }
}

void UringSender::fill(Slot& slot, const Datagram& datagram) const {
  slot.fd = (socket_.senders.empty() ? socket_.fd : socket_.senders[datagram.flow]).get();
  const auto header = datagram.header();
  std::copy(header.begin(), header.end(), slot.header.begin());
  slot.parts[0] = {slot.header.data(), header.size()};
  // sendmsg does not write there; iovec serves both directions.
  slot.parts[1] = {const_cast<std::byte*>(datagram.payload.data()), datagram.payload.size()};
  const auto trailer = datagram.trailer();
  std::copy(trailer.begin(), trailer.end(), slot.trailer.begin());
  slot.parts[2] = {slot.trailer.data(), trailer.size()};
  slot.message = {};
  slot.message.msg_iov = slot.parts;
  slot.message.msg_iovlen = std::size(slot.parts) - (trailer.empty() ? 1 : 0);
  slot.message.msg_name = &slot.destination;
  if (socket_.ethernet.interface_index == 0) {
    // Protocols know others by IPv4 addresses, and a socket of IPv6 reaches what embeds these.
    const auto& to = datagram.destination;
    auto prefix = socket_.local.prefix;
    if (prefix) {
      prefix = prefix->towards(to.address);
    }
    const auto name = to_sockaddr({to.address, to.port, prefix});
    slot.destination.internet = name.storage;
    slot.message.msg_namelen = name.bytes;
  } else {
    slot.destination.link = next_switch_on(socket_.ethernet);
    slot.message.msg_namelen = sizeof slot.destination.link;
  }
}

// Returns false if the submission queue is full.
bool UringSender::prepare(unsigned slot) {
  auto* const sqe = io_uring_get_sqe(&ring_);
  if (sqe == nullptr) {
    return false;
  }
  io_uring_prep_sendmsg(sqe, slots_[slot].fd, &slots_[slot].message, 0);
  io_uring_sqe_set_data64(sqe, slot);
  return true;
}

Result<void> UringSender::complete(unsigned slot, int result) {
  if (result < 0 && is_transient(-result)) {
    retries_.push_back(slot);
    return {};
  }
  free_slots_.push_back(slot);
  if (result >= 0) {
    return {};
  }
  ++refused_;
  last_refusal_ = -result;
  if (result == -EMSGSIZE) {
    return tl::make_unexpected(
        too_large(packet_bytes(socket_, slots_[slot].message), socket_.local));
  }
  return {};  // it counts as lost; the deadline tells
}

std::string UringSender::trouble() const {
  if (refused_ == 0) {
    return {};
  }
  return std::to_string(refused_) + " packets could not be sent (" +
         std::generic_category().message(last_refusal_) + ")";
}

}  // namespace tributary::host
