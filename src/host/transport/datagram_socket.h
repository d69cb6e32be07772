// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/socket.h>
#include <vector>

#include "host/error.h"
#include "host/job.h"
#include "system/file_descriptor.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"

namespace tributary::host {

// Says where packets go directly over Ethernet, and by which type.
struct EthernetLink {
  int interface_index = 0;  // 0: they go over IP
  std::uint16_t ethertype = 0;
  wire::MacAddress group{};
};

struct DatagramSocket {
  FileDescriptor fd;
  // There is one for each flow, as the protocol numbers its datagrams'; empty: all leave through
  // `fd`.
  std::vector<FileDescriptor> senders = {};
  Endpoint local;
  EthernetLink ethernet = {};
  std::size_t receive_buffer_bytes = 0;  // as the kernel accounts it
  bool tells_ecn = false;                // with every datagram, as control data
  bool tells_source = false;             // and from where it came

  // Returns how many packets of that size the receive buffer holds.
  std::size_t packets(std::size_t bytes) const;
};

// Opens a UDP socket of AF_INET or AF_INET6 that is not bound yet. What it sends has this type of
// service (traffic class), is not fragmented, and has any size that the interface takes, whatever
// ICMP says about the path. UDP checksums are off: protocols have checks that hold on from hop to
// hop.
Result<FileDescriptor> open_udp_socket(int tos, int family = AF_INET);

// Opens the same, for what only sends: nobody reads what strangers send there.
Result<FileDescriptor> open_sender(int tos, int family = AF_INET);

bool set_option(int fd, int level, int option, int value);
// Has the kernel tell the ECN bits of every datagram.
bool tell_ecn(DatagramSocket& socket);
bool bind_to(int fd, const Endpoint& local);
// Enlarges it as far as that is allowed.
void enlarge_send_buffer(int fd);
// Enlarges both buffers, and returns the receive buffer's bytes, as the kernel accounts them.
std::size_t enlarge_buffers(int fd);

// Opens a packet socket on the interface of a local address, for packets of that type to a group of
// Ethernet. It needs CAP_NET_RAW.
Result<DatagramSocket> open_ethernet_socket(const wire::IpAddress& local, std::uint16_t ethertype,
                                            const wire::MacAddress& group);

}  // namespace tributary::host
