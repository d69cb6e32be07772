// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <rte_ethdev.h>

#include "dataplane/rss_rule.h"

namespace tributary::dataplane {

// A DevicePlan says which of a device's abilities are put in force (design/0072). No receive
// offload is among them: nobody here reads what a card found out about checksums, and a virtual
// device that is asked for them brings packets whose checksums nobody has finished.
struct DevicePlan {
  std::uint64_t transmit_offloads = 0;  // RTE_ETH_TX_OFFLOAD_*
  bool gathers = false;                 // frames of several segments go out as they are
  // The hashes are RTE_ETH_RSS_*; 0: the device spreads packets over its queues as it likes, or has
  // one.
  std::uint64_t rss_hashes = 0;
  std::vector<std::uint8_t> rss_key;  // empty: the device takes none
  bool fills_redirection = false;     // the redirection table is to name the owners (rss.h)
  bool wants_rule = false;            // there are owners, which the settings above do not find
};

// `owners` says that blocks belong to cores, because an engine runs. Without owners, a hash of the
// source port alone would only crowd packets of different flows on one core.
DevicePlan plan_device(const rte_eth_dev_info& device, std::uint16_t queues, bool owners);

// Returns the form of the rule to make: of those that are of use, the first one that the driver
// takes, as `taken` says. Without a value no rule is made, and blocks are handed over where the
// plan wants one.
std::optional<RssRule::Form> choose_rule(const DevicePlan& plan,
                                         const std::function<bool(RssRule::Form)>& taken);

}  // namespace tributary::dataplane
