// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "engine/protocol.h"
#include "engine/settings.h"
#include "forwarding/range_index.h"
#include "packet/fate.h"

namespace tributary::switching {

// Which of the protocols that are on claims a frame. Asked of every frame: one number is looked up,
// however many protocols there are. Where two share a number, the first row has it.
class Classifier {
 public:
  Classifier() = default;
  explicit Classifier(const engine::Settings& on);

  // The protocol's row, counted from one; 0 if none claims the frame. That has an Ethernet header.
  std::uint8_t claim_on(const engine::Frame& frame) const {
    const auto claim = frame.udp != nullptr
                           ? udp_ports_.find(key_of(frame.udp->destination_port.value()))
                           : ethertypes_.find(key_of(frame.ethernet->type.value()));
    const auto confirms = confirms_[claim];
    const bool is_claimed = confirms == nullptr || confirms(frame);
    return is_claimed ? static_cast<std::uint8_t>(claim) : std::uint8_t{0};
  }

 private:
  // The index looks at the highest bits first.
  static constexpr std::uint32_t key_of(std::uint16_t number) {
    return std::uint32_t{number} << 16;
  }

  forwarding::RangeIndex udp_ports_;
  forwarding::RangeIndex ethertypes_;
  std::array<bool (*)(const engine::Frame&), protocols_max + 1> confirms_{};  // by claim
  static_assert(protocols_max <= engine::noted::claims);
};

}  // namespace tributary::switching
