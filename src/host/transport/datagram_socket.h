// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "host/error.h"
#include "host/job.h"
#include "host/transport/file_descriptor.h"
#include "wire/ipv4.h"

namespace tributary::host {

struct DatagramSocket {
  FileDescriptor fd;
  Endpoint local;
  int interface_index = 0;               // Ethernet only
  std::size_t receive_buffer_bytes = 0;  // as the kernel accounts it
};

// A UDP socket on the first free Canary port of a local address. UDP checksums are off: the CRC of
// the Canary header covers the packet, and every aggregating hop renews it.
Result<DatagramSocket> open_udp_socket(wire::Ipv4Address local);

// A packet socket for Canary directly over Ethernet, on the interface of a local address. Needs
// CAP_NET_RAW.
Result<DatagramSocket> open_ethernet_socket(wire::Ipv4Address local);

}  // namespace tributary::host
