// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/config.h"
#include "control/options.h"

namespace tributary::control {

// The tables of the configuration, but for those of protocols (protocol_section.h).
extern const Options<DaemonConfig> daemon_options;
extern const Options<switching::SwitchConfig> switch_options;
extern const Options<forwarding::BfdConfig> bfd_options;
// [switch.selection]
extern const Options<forwarding::Policies> policy_options;
extern const Options<forwarding::SelectionConfig> selection_options;
// [[switch.port]]
extern const Options<forwarding::PortConfig> port_options;
extern const Options<forwarding::LearningConfig> learning_options;
extern const Options<forwarding::QueueConfig> queue_options;
extern const Options<forwarding::FlowControlConfig> flow_options;
extern const Options<forwarding::ImpairmentConfig> impairment_options;

}  // namespace tributary::control
