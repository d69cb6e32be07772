// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/config_draft.h"
#include "control/options.h"

namespace tributary::control {

inline constexpr Word<bool> on_off_words[] = {{"on", true}, {"off", false}};

// These are the tables of the configuration, but for the top level and those of protocols
// (protocol_section.h).
extern const Options<DaemonConfig> daemon_options;
extern const Options<switching::SwitchConfig> switch_options;
extern const Options<forwarding::BfdConfig> bfd_options;
extern const Options<switching::VlanInterfaceConfig> vlan_interface_options;
extern const Options<switching::RouteConfig> route_options;
extern const Options<switching::RouteConfig6> route6_options;
extern const Options<switching::FdbEntryConfig> fdb_options;
extern const Options<switching::ArpEntryConfig> arp_options;
extern const Options<switching::NeighbourConfig6> neighbour6_options;
extern const Options<forwarding::TrafficClass> class_options;
extern const Options<LinkDraft> link_options;
extern const Options<HandlerConfig> handler_options;
// Both are in [switch.selection].
extern const Options<forwarding::Policies> policy_options;
extern const Options<forwarding::SelectionConfig> selection_options;
// These are in [[switch.port]], with what it is attached to.
extern const Options<forwarding::PortConfig> port_options;
extern const Options<DeviceConfig> device_options;
extern const Options<forwarding::LearningConfig> learning_options;
extern const Options<forwarding::VlanConfig> vlan_options;
extern const Options<forwarding::QueueConfig> queue_options;
extern const Options<forwarding::FlowControlConfig> flow_options;
extern const Options<forwarding::ImpairmentConfig> impairment_options;

}  // namespace tributary::control
