// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/diagnosis.h"

#include <cstddef>

#include "host/job.h"
#include "host/path_search.h"

namespace tributary::host {
namespace {

constexpr auto a_rank_is_missing =
    "its switches wait for a rank, whose port 'tributaryctl stalled' names, or ranks call "
    "different collectives: 'tributaryctl drops' counts flare_mismatch";

std::string text_of(FlareBlockKind kind) {
  return std::string(wire::name(kind.type)) + " by " + std::string(wire::name(kind.op));
}

}  // namespace

std::string called_differently(std::uint64_t block, wire::Ipv4Address group, FlareBlockKind here,
                               FlareBlockKind elsewhere) {
  const bool is_alike = here.type == elsewhere.type && here.op == elsewhere.op;
  return "the ranks do not call the same: block " + std::to_string(block) + " of the tree " +
         to_string(group) + " is " +
         (is_alike ? "of another length at others than here"
                   : text_of(elsewhere) + " at others, " + text_of(here) + " here") +
         "; compare their calls, and the order of these";
}

std::string missing_blocks(const FlareWindow& window, std::uint64_t first, const char* kind) {
  constexpr std::size_t named_max = 4;
  const auto named = window.lowest_in_flight(named_max);
  if (named.empty()) {
    return std::string("any ") + kind + "block";
  }
  std::string text = std::string(kind) + (window.in_flight() == 1 ? "block" : "blocks");
  for (const auto index : named) {
    text += (index == named.front() ? " " : ", ") + std::to_string(first + index);
  }
  const auto others = window.in_flight() - named.size();
  return others == 0 ? text : text + " and " + std::to_string(others) + " more";
}

// Where a tree has given results, most likely a rank is missing. One that has given none may drop
// all that comes, of which only its switches tell.
std::string likely_cause(bool has_given_results) {
  if (has_given_results) {
    return std::string(a_rank_is_missing) + smaller_path;
  }
  return "not one result came: see whether 'tributaryctl drops' counts flare_no_tree (a switch has "
         "no such tree), flare_wrong_port (a rank is behind another port) or flare_mismatch (the "
         "tree has another window, or ranks call different collectives); if none of them, the "
         "switches wait for a rank, whose port 'tributaryctl stalled' names";
}

std::string likely_cause_of_sparse(bool has_given_results) {
  if (has_given_results) {
    return std::string(a_rank_is_missing) + smaller_path;
  }
  return "not one result of a sparse block came: see whether 'tributaryctl drops' counts "
         "flare_not_sparse (the tree has no sparse blocks: `sparse_window`) or flare_mismatch (it "
         "has another sparse_window, or packets that are too small); if none of them, the switches "
         "wait for a rank, whose port 'tributaryctl stalled' names";
}

}  // namespace tributary::host
