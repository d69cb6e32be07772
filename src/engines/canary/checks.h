// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "engine/engine.h"
#include "engine/frame.h"
#include "engines/canary/message.h"
#include "packet/fate.h"
#include "wire/canary.h"

namespace tributary::canary {

DropReason drop_reason_of(wire::CanaryError error);

// Why a packet that this switch is to process cannot be, beyond what the wire parser checks; no
// value if it can. What a child writes about itself is where a result will be sent, so it has to be
// an address that a Canary endpoint can have.
std::optional<DropReason> find_fault(const engine::Frame& frame, const wire::CanaryHeader& header,
                                     const engine::SwitchIdentity& self);

}  // namespace tributary::canary
