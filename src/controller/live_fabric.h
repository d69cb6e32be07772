// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/client.h"
#include "controller/fabric_file.h"
#include "controller/levels.h"
#include "controller/tree_use.h"

namespace tributary::controller {

// Connections to daemons, by where they are: ssh, socket.
using Connections = std::map<std::pair<std::string, std::string>, control::Client>;

// What the switches of a fabric have and say. Switches that share a daemon share a connection.
// Daemons are asked eight at a time, so that eight which do not answer cost one timeout together.
class LiveFabric {
 public:
  // `kept`: what an earlier one was connected to; what is no use any more is connected anew.
  LiveFabric(const FabricFile& fabric, std::chrono::milliseconds timeout, Connections kept = {});
  // For the next one. This one would connect anew to install.
  Connections release();

  // Without an answer, the reason.
  const std::optional<control::CallError>& silence(std::size_t sw) const { return silent_[sw]; }
  bool all_answer() const;
  // What is not there: switches, ports.
  const std::vector<std::string>& faults() const { return faults_; }

  // The file's topology and what keeps trees of that engine from parts of it. Switches that do not
  // answer are taken for good or for unusable.
  Topology topology(const std::string& engine, bool silent_usable) const;
  // Trees of the file of a daemon and of controllers.
  const std::vector<PlacedPart>& installed() const { return installed_; }
  // Those of controllers alone.
  const std::vector<PlacedPart>& changeable() const { return changeable_; }

  // The seeds of reductions that switches have in force; of a fabric whose levels need none,
  // nobody is asked.
  const Seeds& seeds() const { return seeds_; }
  tl::expected<void, std::string> set_seed(const SeedChange& change);

  // Of those of controllers, what workers send through.
  const std::vector<TreeUse>& uses() const { return uses_; }

  tl::expected<void, std::string> install(std::size_t sw, const std::vector<std::uint32_t>& jobs,
                                          const std::vector<TreePart>& parts, bool check);
  // Why it would refuse that; no value: it would not, or does not say.
  std::optional<std::string> objection(std::size_t sw, const std::vector<std::uint32_t>& jobs,
                                       const std::vector<TreePart>& parts);

 private:
  using Point = Connections::key_type;
  using Called = tl::expected<nlohmann::json, control::CallError>;
  struct Daemon {
    std::optional<control::Client> client;
    std::optional<control::CallError> error;
    nlohmann::json ports;
    nlohmann::json trees;
    nlohmann::json switches;  // null: not asked
  };
  struct SwitchState {
    struct Port {
      bool up = false;
      std::uint64_t rate_bps = 0;  // 0: unknown
    };
    std::map<std::string, Port> ports;
    std::map<std::string, std::size_t> trees_max;  // by engine that is on
  };

  Daemon& daemon_of(std::size_t sw);
  void reach_all(Connections kept);
  void reach(Daemon& daemon, const Point& point) const;
  void connect(Daemon& daemon, const Point& point) const;
  void ask(Daemon& daemon) const;
  static Called call(Daemon& daemon, const char* method, nlohmann::json params);
  Called call_install(std::size_t sw, const std::vector<std::uint32_t>& jobs,
                      const std::vector<TreePart>& parts, bool check);
  void read_switch(std::size_t sw, const Daemon& daemon);
  void check_switches();
  void check_port(const SwitchPort& port, const std::string& user);
  std::string unusable(const SwitchPort& port) const;
  std::uint64_t rate(const SwitchPort& port) const;
  std::string port_name(const SwitchPort& port) const;

  const FabricFile& fabric_;
  std::chrono::milliseconds timeout_;
  std::map<Point, Daemon> daemons_;
  std::vector<std::optional<control::CallError>> silent_;  // by switch
  std::vector<SwitchState> states_;                        // by switch
  std::vector<std::string> faults_;
  std::vector<PlacedPart> installed_;
  std::vector<PlacedPart> changeable_;
  std::vector<TreeUse> uses_;
  bool needs_seeds_;
  Seeds seeds_;
};

}  // namespace tributary::controller
