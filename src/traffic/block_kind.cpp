// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/block_kind.h"

#include <span>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "traffic/option_text.h"

namespace tributary::traffic {
namespace {

// So many blocks of all jobs may be in flight, since the generator keeps something of each.
constexpr std::uint64_t blocks_max = buffers_max;

template <typename T, typename Of>
std::vector<T> named(const std::string& option, const std::vector<std::string>& names,
                     std::size_t count, Of of) {
  std::vector<T> values;
  for (const auto& text : names) {
    if (text == "all") {
      for (std::size_t i = 0; i < count; ++i) {
        values.push_back(static_cast<T>(i));
      }
    } else if (const auto value = of(text)) {
      values.push_back(*value);
    } else {
      refuse(option, "\"" + text + "\" is none; --help lists them");
    }
  }
  return values;
}

}  // namespace

void BlockKind::declare_jobs(CLI::App& app, BlockPlan& plan) {
  app.add_option("--jobs", plan.jobs, "jobs, or rings, at the same time")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  const auto types = std::span(wire::element_type_names).first(wire::built_in_type_count);
  app.add_option(
         "--type", types_,
         wire::listed(types) + ", or all; with commas between: jobs take all combinations in turn")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--op", operators_,
                 wire::listed(wire::operator_names) + ", or all; with commas between")
      ->delimiter(',')
      ->capture_default_str();
}

void BlockKind::declare_block_timeout(CLI::App& app) {
  app.add_option("--block-timeout", block_timeout_,
                 "time after which a block counts as lost, at least 1ms")
      ->type_name("DURATION")
      ->capture_default_str();
}

void BlockKind::declare_interleave(CLI::App& app, BlockPlan& plan) {
  app.add_option("--interleave", plan.interleave,
                 "blocks of which each worker sends its part before the next worker does")
      ->check(CLI::Range(1u, 65536u))
      ->capture_default_str();
}

void BlockKind::declare_elements(CLI::App& app, std::uint16_t& elements) {
  app.add_option("--elements", elements, "elements in each packet")
      ->check(CLI::Range(1, 9000))
      ->capture_default_str();
}

void BlockKind::interpret_jobs(BlockPlan& plan) const {
  plan.kinds.clear();
  const auto types =
      named<wire::ElementType>("--type", types_, wire::built_in_type_count, wire::element_type_of);
  const auto operators =
      named<wire::Operator>("--op", operators_, wire::operator_count, wire::operator_of);
  if (std::any_of(operators.begin(), operators.end(), wire::is_handler)) {
    refuse("--op", "the generator does not know what sums a handler makes; choose another one");
  }
  for (const auto type : types) {
    for (const auto op : operators) {
      if (wire::is_valid(type, op)) {
        plan.kinds.push_back({type, op});
      }
    }
  }
  if (plan.kinds.empty()) {
    refuse("--op", std::string(wire::valid_combinations) + "; choose another --type");
  }
  if (plan.kinds.size() > plan.jobs) {
    if (plan.jobs != 1) {
      refuse("--jobs", std::to_string(plan.kinds.size()) +
                           " combinations of types and operators need as many jobs");
    }
    plan.jobs = static_cast<std::uint32_t>(plan.kinds.size());
  }
}

Duration BlockKind::patience() const {
  return duration_of("--block-timeout", block_timeout_);
}

void BlockKind::interpret_block_timeout(BlockPlan& plan) const {
  plan.block_timeout = patience();
  if (plan.block_timeout < std::chrono::milliseconds(1)) {
    refuse("--block-timeout", "is at least 1ms");
  }
}

void BlockKind::require_room(const BlockPlan& plan, std::size_t elements, std::size_t headers,
                             std::uint16_t mtu) {
  for (const auto& kind : plan.kinds) {
    const auto bytes = wire::element_bytes(kind.type);
    if (elements * bytes + headers > mtu) {
      refuse("--elements", std::to_string(elements) + " of " + std::string(wire::name(kind.type)) +
                               " do not fit an MTU of " + std::to_string(mtu) + "; at most " +
                               std::to_string((mtu - headers) / bytes) + " do");
    }
  }
}

void BlockKind::require_blocks(const std::string& option, Mode mode, std::uint64_t blocks) {
  if (mode != Mode::pcap && blocks > blocks_max) {
    refuse(option, std::to_string(blocks) + " blocks of all jobs would be in flight; at most " +
                       std::to_string(blocks_max) + " can be");
  }
}

void BlockKind::spread_workers(const BlockPlan& plan, std::vector<StationRange>& ports) {
  for (auto& port : ports) {
    port.count = static_cast<std::uint32_t>((plan.workers + ports.size() - 1) / ports.size());
  }
}

nlohmann::ordered_json BlockKind::json_of(const std::vector<Reduction>& kinds) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& kind : kinds) {
    list.push_back({{"type", wire::name(kind.type)}, {"op", wire::name(kind.op)}});
  }
  return list;
}

std::string BlockKind::neighbours_of_switch(const BlockPlan& plan, const Stations& stations) {
  std::string text =
      "# The switch cannot ask for its neighbours; put this into its configuration:\n";
  for (std::uint32_t i = 0; i < plan.workers; ++i) {
    text += std::string(stations.over_ipv6() ? "[[switch.neighbour6]]" : "[[switch.arp]]") +
            "\naddress = \"" + control::to_string(stations.ip(0, i)) + "\"\nmac = \"" +
            control::to_string(stations.mac(0, i)) + "\"\n";
  }
  return text;
}

}  // namespace tributary::traffic
