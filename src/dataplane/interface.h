// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "system/file_descriptor.h"

namespace tributary::dataplane {

// These are network interfaces of the kernel, in the network namespace of the process.

// Checks that the interface exists and that we may use it. The error says what to do.
tl::expected<void, std::string> check_interface(const std::string& name);

// The MTU is in IP bytes, without the Ethernet header; 0 if there is no such interface.
std::uint16_t interface_mtu(const std::string& name);
tl::expected<void, std::string> set_interface_mtu(const std::string& name, std::uint16_t mtu);

// Says whether somebody set it to take packets for all MAC addresses.
bool interface_promiscuous(const std::string& name);

// Says whether it takes tags of VLANs off the frames that it receives (ethtool's rxvlan), and tells
// them beside the frame. AF_XDP does not pass that on.
bool interface_takes_tags_off(const std::string& name);

// Returns how many combined channels it has, as AF_XDP can have a socket on each; 1 if it does not
// say.
std::uint16_t interface_channels(const std::string& name);
// Returns over how many channels it spreads what it receives, combined ones and others.
std::uint16_t interface_receive_channels(const std::string& name);

struct InterfaceLosses {
  std::uint64_t missed = 0;  // frames that came, and for which it had no room
  std::uint64_t unsent = 0;  // frames that it was to send, and did not
};
// Returns the losses since it was made; no value if it cannot be asked.
std::optional<InterfaceLosses> interface_losses(const std::string& name);

// Returns 0 if there is none.
unsigned interface_index(const std::string& name);

// Says whether it is administratively up, with carrier, and still the interface of that index: one
// that was deleted and made again under the same name is another one.
bool interface_running(const std::string& name, unsigned index);

// Tells when the kernel says something about any interface. It may be late when a carrier flaps,
// and silent where netlink is not allowed, so a caller that needs to know looks from time to time
// as well.
class InterfaceEvents {
 public:
  InterfaceEvents();

  // Returns what can be read when there is something new; -1 if that cannot be known.
  int fd() const { return descriptor_.get(); }
  // Forgets what was said so far.
  void clear();

 private:
  FileDescriptor descriptor_;
};

}  // namespace tributary::dataplane
