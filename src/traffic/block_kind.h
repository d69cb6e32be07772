// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "traffic/block_traffic.h"
#include "traffic/block_values.h"
#include "traffic/kind.h"
#include "traffic/stations.h"

namespace tributary::traffic {

// A BlockKind has the options that all kinds of aggregation share, and what they mean. All
// interpret_...() and require_...() throw as TrafficKind::interpret() does.
class BlockKind : public TrafficKind {
 public:
  const char* unit() const final { return "blocks"; }
  bool checks_results() const final { return true; }
  Duration patience() const final;

 protected:
  // Declares --jobs, --type and --op. The plan outlives the app.
  void declare_jobs(CLI::App& app, BlockPlan& plan);
  void declare_block_timeout(CLI::App& app);
  static void declare_interleave(CLI::App& app, BlockPlan& plan);
  static void declare_elements(CLI::App& app, std::uint16_t& elements);

  void interpret_jobs(BlockPlan& plan) const;
  void interpret_block_timeout(BlockPlan& plan) const;

  // Requires that `elements` elements of each kind fit behind `headers` bytes of IP and other
  // headers.
  static void require_room(const BlockPlan& plan, std::size_t elements, std::size_t headers,
                           std::uint16_t mtu);
  // Requires that `blocks` blocks, a number that the option decides, can be in flight at the same
  // time. A file has one after the other, so that it may have more.
  static void require_blocks(const std::string& option, Mode mode, std::uint64_t blocks);

  // Puts as many workers behind each port as the plan takes.
  static void spread_workers(const BlockPlan& plan, std::vector<StationRange>& ports);
  // Returns TrafficKind::lines() where so many workers, which all send as much, are behind the
  // ports in turn.
  static double lines_of(std::uint64_t workers, std::size_t ports) {
    return static_cast<double>(workers) / static_cast<double>((workers + ports - 1) / ports);
  }
  static nlohmann::ordered_json json_of(const std::vector<Reduction>& kinds);
  // Lists the workers behind port 0, as TOML: a switch that is fed by a file cannot ask for them.
  static std::string neighbours_of_switch(const BlockPlan& plan, const Stations& stations);

 private:
  std::vector<std::string> types_ = {"f32"};
  std::vector<std::string> operators_ = {"sum"};
  std::string block_timeout_ = "1s";
};

}  // namespace tributary::traffic
