// SPDX-License-Identifier: BSD-3-Clause
#include "property/accounts.h"

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "protocols/engines.h"
#include "protocols/flare/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "support/engine_harness.h"

namespace tributary::test {
namespace {

constexpr std::string_view canary_name = "canary";
constexpr std::string_view panama_name = "panama";
constexpr std::string_view netreduce_name = "netreduce";
constexpr std::string_view flare_name = "flare";

std::string differ(std::uint64_t left, const std::string& what, std::uint64_t right,
                   const std::string& other) {
  return std::to_string(left) + " " + what + ", " + std::to_string(right) + " " + other;
}

// Whether the figures can be compared with what was sent: a damaged frame is dropped before its
// engine sees it, or goes to another engine; a frame on a cable that is pulled was sent, and does
// not arrive.
bool counts_what_came(const Shape& shape) {
  return shape.corrupt == 0 && shape.flaps == 0 && shape.cuts == 0 && shape.outages == 0;
}

std::uint64_t sum(const VirtualFabric& fabric, std::string_view engine,
                  std::initializer_list<std::string_view> names) {
  std::uint64_t total = 0;
  for (const auto name : names) {
    total += fabric.figure(name, engine);
  }
  return total;
}

template <typename Wanted>
std::uint64_t drops(const VirtualFabric& fabric, Wanted wanted) {
  const auto ledgers = fabric.ledgers();
  std::uint64_t total = 0;
  for (const auto& [reason, name] : protocols::drop_reasons()) {
    if (wanted(name)) {
      for (const auto& ledger : ledgers) {
        total += ledger.dropped(reason);
      }
    }
  }
  return total;
}

std::uint64_t drops_of(const VirtualFabric& fabric, std::string_view reason) {
  return drops(fabric, [reason](std::string_view name) { return name == reason; });
}

// What the trees of PANAMA or Flare did since the switches started.
struct TreeSums {
  std::uint64_t results_taken = 0;  // from above
  std::uint64_t contributions = 0;  // in all results together
  std::string fault;
};

template <typename TreeConfig>
void add_tree(TreeSums& sums, const engine::TreeStatus& tree, const TreeConfig& config) {
  const auto results = test::figure_of(tree, "results_total");
  sums.results_taken += config.parent ? results : 0;
  sums.contributions += results * config.children.size();
}

TreeSums add_trees(const VirtualFabric& fabric) {
  TreeSums sums;
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    const auto& config = fabric.config(index).protocols.get<panama::PanamaConfig>();
    for (const auto* engine : fabric.engines(index, panama_name)) {
      const auto trees = engine->trees();
      for (std::size_t i = 0; i < trees.size(); ++i) {
        add_tree(sums, trees[i], config.trees[i]);
        if (test::figure_of(trees[i], "granted_packets") > config.packet_memory) {
          sums.fault = "a tree has more than the packet memory";
        }
      }
      for (const auto& figure : engine->figures()) {
        if ((figure.name == "packets_held_high_water" || figure.name == "packets_granted") &&
            figure.value > config.packet_memory) {
          sums.fault = std::string(figure.name) + " passes the packet memory";
        }
      }
    }
  }
  return sums;
}

// Looks for state that is left when no rank asks or sends any more.
std::string find_panama_leftovers(const VirtualFabric& fabric, const Shape& shape, bool calm) {
  if (fabric.figure_now("packets_kept", panama_name) != 0 ||
      fabric.figure_now("trees_active", panama_name) != 0) {
    return "results are kept, or trees active, when all is silent";
  }
  const bool all_there = calm && shape.stray == 0 && !is_interrupted(shape) && shape.forged == 0;
  // Repeated packets of an epoch that is over wait for it to begin again.
  if (all_there && (fabric.figure_now("rows_gathering", panama_name) != 0 ||
                    fabric.figure_now("packets_held", panama_name) >
                        fabric.figure_now("packets_early", panama_name))) {
    return "contributions still wait for others";
  }
  return {};
}

TreeSums add_reduction_trees(const VirtualFabric& fabric) {
  TreeSums sums;
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    const auto& config = fabric.config(index).protocols.get<flare::FlareConfig>();
    for (const auto* engine : fabric.engines(index, flare_name)) {
      const auto trees = engine->trees();
      for (std::size_t i = 0; i < trees.size(); ++i) {
        add_tree(sums, trees[i], config.trees[i]);
        const bool from_above = config.trees[i].parent.has_value();
        sums.results_taken += from_above ? test::figure_of(trees[i], "sparse_results_total") : 0;
      }
      if (test::figure_among(engine->figures(), "buffers_high_water") > config.working_memory) {
        sums.fault = "trees have had more than the working memory";
      }
    }
  }
  return sums;
}

// A rank that sends as agreed is never refused.
std::string find_flare_refusals(const VirtualFabric& fabric) {
  for (const auto* reason :
       {"flare_truncated", "flare_oversized", "flare_version", "flare_malformed", "flare_crc",
        "flare_no_tree", "flare_wrong_port", "flare_mismatch"}) {
    if (drops_of(fabric, reason) != 0) {
      return std::string("who obeys was refused: ") + reason;
    }
  }
  return {};
}

// All ranks have every sum, so nothing waits, and all packets that waited were sent on.
std::string find_netreduce_leftovers(const VirtualFabric& fabric) {
  const auto count = [&fabric](std::string_view name) {
    return fabric.figure(name, netreduce_name);
  };
  if (fabric.figure_now("packets_waiting", netreduce_name) != 0) {
    return "packets wait for sums that everybody has";
  }
  if (count("abandoned_total") != 0) {
    return "sums were given up that somebody waited for";
  }
  const auto sent_at_once = count("answered_total") + count("totals_total");
  const auto kept = count("gradients_total") - count("overwritten_total");
  const auto resumed = count("results_total") + count("partials_total") - sent_at_once;
  if (kept != resumed) {
    return differ(kept, "packets were kept", resumed, "went on");
  }
  return {};
}

// A rank that sends as agreed is never refused.
std::string find_netreduce_refusals(const VirtualFabric& fabric) {
  for (const auto* reason : {"netreduce_malformed", "netreduce_not_member", "netreduce_rank_taken",
                             "netreduce_mismatch"}) {
    if (drops_of(fabric, reason) != 0) {
      return std::string("who obeys was refused: ") + reason;
    }
  }
  return {};
}

}  // namespace

std::string find_canary_discrepancy(const VirtualFabric& fabric, const Shape& shape) {
  const auto count = [&fabric](std::initializer_list<std::string_view> names) {
    return sum(fabric, canary_name, names);
  };
  if (fabric.figure_now("descriptors_in_use", canary_name) != 0) {
    return "descriptors are left";
  }
  const auto claimed = fabric.claimed(canary_name);
  const auto taken = count({"contributions_total", "results_total", "releases_total",
                            "restorations_total", "passed_total"});
  const auto dropped = drops(fabric, [](std::string_view reason) {
    return reason.starts_with("canary_") || reason == "local_unserved";
  });
  if (counts_what_came(shape) && claimed != taken + dropped) {
    return differ(claimed, "packets came in", taken, "were taken and ") + std::to_string(dropped) +
           " dropped";
  }
  const auto contributions = count({"contributions_total"});
  const auto fates = count({"blocks_total", "joined_total", "stragglers_total", "collisions_total",
                            "children_overflows_total", "accumulator_overflows_total",
                            "quota_job_total", "quota_port_total", "partition_none_total"});
  if (fates != contributions) {
    return differ(contributions, "contributions were counted", fates, "by their fates");
  }
  const auto begun = count({"blocks_total"});
  const auto freed = count(
      {"results_total", "releases_total", "aged_total", "reclaimed_total", "superseded_total"});
  if (shape.restarts == 0 && begun != freed) {
    return differ(begun, "descriptors were taken", freed, "freed");
  }
  return {};
}

std::string find_panama_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm) {
  if (shape.panama == 0) {
    return {};
  }
  const auto trees = add_trees(fabric);
  if (!trees.fault.empty()) {
    return trees.fault;
  }
  if (auto left = find_panama_leftovers(fabric, shape, calm); !left.empty()) {
    return left;
  }
  const bool undisturbed = !is_interrupted(shape) && shape.stray == 0;
  if (undisturbed && fabric.figure("over_cap_total", panama_name) != 0) {
    return "who obeys was refused";
  }
  const auto contributions = fabric.figure("contributions_total", panama_name);
  if (undisturbed && calm && shape.missing == 0 && contributions < trees.contributions) {
    return differ(contributions, "contributions were taken", trees.contributions,
                  "are in the results");
  }
  // Some of the late contributions are added.
  const auto late_added =
      fabric.figure("late_total", panama_name) - drops_of(fabric, "panama_late");
  const auto taken = contributions + late_added + fabric.figure("replaced_total", panama_name) +
                     trees.results_taken + fabric.figure("left_total", panama_name) +
                     fabric.figure_now("packets_early", panama_name) +
                     sum(fabric, panama_name, {"answers_total", "inquiries_total"});
  const auto dropped =
      drops(fabric, [](std::string_view reason) { return reason.starts_with("panama_"); });
  const auto claimed = fabric.claimed(panama_name);
  if (counts_what_came(shape) && shape.restarts == 0 && claimed != taken + dropped) {
    return differ(claimed, "packets came in for PANAMA", taken, "were taken and ") +
           std::to_string(dropped) + " dropped";
  }
  return {};
}

std::string find_netreduce_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm) {
  if (shape.netreduce == 0) {
    return {};
  }
  if (shape.restarts == 0 && calm) {
    if (auto left = find_netreduce_leftovers(fabric); !left.empty()) {
      return left;
    }
  }
  if (shape.restarts == 0 && shape.forged == 0) {
    if (auto refused = find_netreduce_refusals(fabric); !refused.empty()) {
      return refused;
    }
  }
  if (shape.corrupt == 0 && drops_of(fabric, "netreduce_icrc") != 0) {
    return "what nothing damaged was dropped as damaged";
  }
  const auto taken = sum(fabric, netreduce_name,
                         {"gradients_total", "answered_total", "totals_total", "past_total",
                          "provoked_total", "passed_total"});
  const auto dropped =
      drops(fabric, [](std::string_view reason) { return reason.starts_with("netreduce_"); });
  const auto claimed = fabric.claimed(netreduce_name);
  if (counts_what_came(shape) && claimed != taken + dropped) {
    return differ(claimed, "packets came in for NetReduce", taken, "were taken and ") +
           std::to_string(dropped) + " dropped";
  }
  return {};
}

std::string find_flare_discrepancy(const VirtualFabric& fabric, const Shape& shape, bool calm) {
  if (shape.flare == 0) {
    return {};
  }
  const auto trees = add_reduction_trees(fabric);
  if (!trees.fault.empty()) {
    return trees.fault;
  }
  if (fabric.figure_now("buffers_in_use", flare_name) != 0) {
    return "aggregation buffers are in use when all is silent";
  }
  if (shape.corrupt == 0 && shape.forged == 0) {
    if (auto refused = find_flare_refusals(fabric); !refused.empty()) {
      return refused;
    }
  }
  const auto contributions = fabric.figure("contributions_total", flare_name);
  const bool undisturbed = !is_interrupted(shape) && shape.stray == 0;
  if (undisturbed && calm && contributions < trees.contributions) {
    return differ(contributions, "contributions were taken", trees.contributions,
                  "are in the results");
  }
  const auto taken = contributions + trees.results_taken +
                     sum(fabric, flare_name,
                         {"answers_total", "inquiries_total", "refusals_total",
                          "sparse_contributions_total", "sparse_answers_total"});
  const auto dropped =
      drops(fabric, [](std::string_view reason) { return reason.starts_with("flare_"); });
  const auto claimed = fabric.claimed(flare_name);
  if (counts_what_came(shape) && shape.restarts == 0 && claimed != taken + dropped) {
    return differ(claimed, "packets came in for Flare", taken, "were taken and ") +
           std::to_string(dropped) + " dropped";
  }
  return {};
}

}  // namespace tributary::test
