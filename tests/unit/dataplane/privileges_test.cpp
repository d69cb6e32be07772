// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/privileges.h"

#include <linux/capability.h>

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

using control::InterfaceDevice;

TEST(MissingCapabilities, HaveNames) {
  const InterfaceDevice packets{.interface = "a"};
  const InterfaceDevice xdp{.interface = "a", .driver = InterfaceDevice::Driver::af_xdp};
  const control::TapDevice tap{"tap0"};
  EXPECT_EQ(missing_capabilities(packets, 0), "CAP_NET_RAW and CAP_NET_ADMIN");
  EXPECT_EQ(missing_capabilities(packets, 1u << CAP_NET_RAW), "CAP_NET_ADMIN");
  EXPECT_EQ(missing_capabilities(xdp, (1u << CAP_NET_RAW) | (1u << CAP_NET_ADMIN)), "CAP_BPF");
  EXPECT_EQ(missing_capabilities(tap, 0), "CAP_NET_ADMIN");
}

TEST(MissingCapabilities, AreNoneWhereNothingIsMissing) {
  EXPECT_EQ(missing_capabilities(control::TapDevice{"tap0"}, ~std::uint64_t{0}), "");
  EXPECT_EQ(missing_capabilities(control::RingDevice{"r"}, 0), "");
  EXPECT_EQ(missing_capabilities(control::MemifDevice{"/tmp/x.sock"}, 0), "");
  EXPECT_EQ(missing_capabilities(control::VhostDevice{"/tmp/x.sock"}, 0), "");
  EXPECT_EQ(missing_capabilities(control::VirtioUserDevice{"/tmp/x.sock"}, 0), "");
}

}  // namespace
}  // namespace tributary::dataplane
