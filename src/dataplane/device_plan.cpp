// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_plan.h"

#include <bit>
#include <cstddef>
#include <string_view>

#include "dataplane/rss.h"

namespace tributary::dataplane {
namespace {

constexpr std::size_t rss_key_bytes_max = 128;

// Some software drivers gather segments, and do not say so.
bool gathers_segments(const rte_eth_dev_info& device) {
  const std::string_view driver = device.driver_name;
  return (device.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0 || driver == "net_pcap" ||
         driver == "net_null";
}

// A card that frees fast does not look who else has a segment, nor whether there is a second one.
// So that is allowed only where every frame is in one piece, of which nobody else has any.
std::uint64_t transmit_offloads(const rte_eth_dev_info& device, bool gathers) {
  return device.tx_offload_capa &
         (gathers ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
}

// Where blocks have owners and the card can, it hashes the UDP source port alone, so that a packet
// arrives at the owner of its block; else it hashes whole flows.
void plan_rss(const rte_eth_dev_info& device, bool owners, DevicePlan& plan) {
  // For some cards UDP and TCP over IPv6, and fragments, are kinds of their own.
  constexpr std::uint64_t others =
      RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6;
  constexpr std::uint64_t flows = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_TCP |
                                  RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_NONFRAG_IPV6_TCP;
  constexpr std::uint64_t ports = source_port_hash | RTE_ETH_RSS_NONFRAG_IPV6_UDP;
  const auto offered = device.flow_type_rss_offloads;
  const bool by_port = owners && (offered & source_port_hash) == source_port_hash;
  plan.wants_rule = owners && !by_port;
  if (device.hash_key_size > rss_key_bytes_max) {
    return;
  }
  plan.rss_hashes = ((by_port ? ports : flows) | others) & offered;
  if (plan.rss_hashes == 0) {
    return;
  }
  plan.rss_key.resize(device.hash_key_size);
  fill_rss_key(plan.rss_key);
  plan.fills_redirection = std::has_single_bit(device.reta_size);
}

}  // namespace

DevicePlan plan_device(const rte_eth_dev_info& device, std::uint16_t queues, bool owners) {
  DevicePlan plan;
  plan.gathers = gathers_segments(device);
  plan.transmit_offloads = transmit_offloads(device, plan.gathers);
  if (queues > 1) {
    plan_rss(device, owners, plan);
  }
  return plan;
}

std::optional<RssRule::Form> choose_rule(const DevicePlan& plan,
                                         const std::function<bool(RssRule::Form)>& taken) {
  using Form = RssRule::Form;
  const bool device_names_owners = !plan.rss_key.empty() && plan.fills_redirection;
  if (plan.wants_rule && device_names_owners && taken(Form::as_device)) {
    return Form::as_device;
  }
  if (plan.wants_rule && taken(Form::by_itself)) {
    return Form::by_itself;
  }
  return std::nullopt;
}

}  // namespace tributary::dataplane
