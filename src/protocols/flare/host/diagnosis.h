// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "protocols/flare/host/window.h"
#include "wire/element.h"
#include "wire/ipv4.h"

namespace tributary::host {

// Names the blocks that have no result, by their numbers in the run, where the window's begin with
// `first`: "block 23", "blocks 23, 26, 27, 28 and 2 more"; `kind` stands before the word.
std::string missing_blocks(const FlareWindow& window, std::uint64_t first, const char* kind);

// Tells what is done to a block.
struct FlareBlockKind {
  wire::ElementType type;
  wire::Operator op;
};
// Says that the switches have a block of another kind than a rank's, or of another length.
std::string called_differently(std::uint64_t block, wire::Ipv4Address group, FlareBlockKind here,
                               FlareBlockKind elsewhere);

// Says why a tree gives no results for dense blocks, where it has given some to this communicator
// or none at all: what to look for on the switches.
std::string likely_cause(bool has_given_results);
// Says the same for sparse blocks, whose opening had a result.
std::string likely_cause_of_sparse(bool has_given_results);

}  // namespace tributary::host
