// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/error.h"
#include "host/job.h"
#include "host/transport/file_descriptor.h"
#include "wire/ipv4.h"

namespace tributary::host {

struct DatagramSocket {
  FileDescriptor fd;
  // One per flow of the datagrams (Canary: wire::flow_of(), PANAMA: per tree); empty: all leave
  // through `fd`.
  std::vector<FileDescriptor> senders = {};
  Endpoint local;
  int interface_index = 0;               // Ethernet only
  std::size_t receive_buffer_bytes = 0;  // as the kernel accounts it
  bool tells_ecn = false;                // with every datagram, as control data
  bool tells_source = false;             // and from where it came
};

// A UDP socket on the first free Canary port of a local address, and others that send for it, so
// that source ports tell blocks apart; no privileges are needed for that. UDP checksums are off:
// the CRC of the Canary header covers the packet, and every aggregating hop renews it.
Result<DatagramSocket> open_udp_socket(wire::Ipv4Address local);

// A UDP socket that is a member of multicast groups on the interface of a local address, at
// PANAMA's port, which jobs on one host share. What is sent to a group has a source port that
// follows from the job and the tree, if it is free, and asks for PANAMA's treatment (DSCP 56).
Result<DatagramSocket> open_panama_socket(wire::Ipv4Address local,
                                          const std::vector<wire::Ipv4Address>& groups,
                                          std::uint32_t job);

// A UDP socket at RoCEv2's port of a local address, which only one endpoint can have. What it sends
// has a source port that is the same, and an IPv4 header without identification, checksum or
// fragments: what the ICRC covers is known.
Result<DatagramSocket> open_roce_socket(wire::Ipv4Address local);

// A packet socket for Canary directly over Ethernet, on the interface of a local address. Needs
// CAP_NET_RAW.
Result<DatagramSocket> open_ethernet_socket(wire::Ipv4Address local);

}  // namespace tributary::host
