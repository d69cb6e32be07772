// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "dataplane/feed_ring.h"

namespace tributary::pktgen {

// Reads all Ethernet frames of a pcap file. The error names a file that cannot be read, or has no
// frames, or one of more than `bytes_max`.
tl::expected<dataplane::FeedFrames, std::string> read_frames(const std::string& file,
                                                             std::uint32_t bytes_max);

}  // namespace tributary::pktgen
