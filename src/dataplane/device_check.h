// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"

namespace tributary::dataplane {

// Checks files and sockets that a driver would refuse with no more than an error number.
tl::expected<void, std::string> check_device(const control::DeviceConfig& device);

// Returns how many receive queues to set up on a device that has `most`; automatic ones are one for
// each of the cores.
tl::expected<std::uint16_t, std::string> choose_queues(const control::DeviceConfig& config,
                                                       std::uint16_t cores, std::uint16_t most);

// Says whether a device brings all frames; `result` is that of switching it to promiscuous mode. A
// cable of software (ring, pcap, memif) has no such mode, and brings everything anyway; a card
// without it brings what is for its own address.
bool hears_everything(int result, const std::string& bus);

}  // namespace tributary::dataplane
