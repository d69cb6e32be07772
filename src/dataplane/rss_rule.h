// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <rte_ethdev.h>
#include <rte_flow.h>

namespace tributary::dataplane {

// A block's owner follows from this hash (rss.h): UDP over IPv4 by its source port alone.
inline constexpr std::uint64_t source_port_hash =
    RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_L4_SRC_ONLY;

// A rule of rte_flow does the same for drivers that cannot be told so of the whole device. Other
// packets are spread as the device was told.
class RssRule {
 public:
  // A rule has the device's own key and redirection table, as Intel's drivers demand, or a key and
  // a list of queues that come with the rule, as NVIDIA's do.
  enum class Form : std::uint8_t { as_device, by_itself };

  RssRule(Form form, std::uint16_t queues);
  RssRule(const RssRule&) = delete;  // its parts point at each other
  RssRule& operator=(const RssRule&) = delete;

  const rte_flow_attr& attributes() const { return attributes_; }
  const rte_flow_item* pattern() const { return pattern_.data(); }
  const rte_flow_action* actions() const { return actions_.data(); }

 private:
  std::vector<std::uint8_t> key_;
  std::vector<std::uint16_t> queues_;
  rte_flow_attr attributes_ = {};
  rte_flow_action_rss spread_ = {};
  std::array<rte_flow_item, 4> pattern_ = {};
  std::array<rte_flow_action, 2> actions_ = {};
};

}  // namespace tributary::dataplane
