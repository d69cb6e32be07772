// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

namespace tributary::dataplane {

// By receive side scaling a network card is told to put a packet into the queue of the core that
// owns its block (engine/spreading.h), where it can hash the UDP source port alone. The Toeplitz
// key repeats every 16 bits, so that it does not matter where in its input a card has the port.
void fill_rss_key(std::span<std::uint8_t> key);

// Returns the queue in entry `index` of a redirection table of `entries`, a power of two.
std::uint16_t rss_queue(std::uint32_t index, std::uint32_t entries, std::uint16_t queues);

}  // namespace tributary::dataplane
