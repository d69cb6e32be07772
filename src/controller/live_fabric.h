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
#include "controller/fabric_transaction.h"
#include "controller/levels.h"
#include "controller/tree_use.h"

namespace tributary::controller {

// Connections to daemons are known by where these are: ssh, socket.
using Connections = std::map<std::pair<std::string, std::string>, control::Client>;

// A LiveFabric is what the switches of a fabric have and say. Switches that share a daemon share a
// connection. Daemons are asked eight at a time, so that eight which do not answer cost one timeout
// together.
class LiveFabric {
 public:
  // `kept` is what an earlier one was connected to; a connection that is no use any more is made
  // anew.
  LiveFabric(const FabricFile& fabric, std::chrono::milliseconds timeout, Connections kept = {});
  // Gives its connections to the next one. To install, this one would connect anew.
  Connections release();

  // Returns the reason why there is no answer, if there is none.
  const std::optional<control::CallError>& silence(std::size_t sw) const { return silent_[sw]; }
  bool all_answer() const;
  // Lists switches and ports that are not there.
  const std::vector<std::string>& faults() const { return faults_; }

  // Returns the file's topology and what keeps trees of that engine from parts of it. Switches that
  // do not answer are taken for good or for unusable.
  Topology topology(const std::string& engine, bool silent_usable) const;
  // Returns the trees of the daemons' files and of controllers.
  const std::vector<PlacedPart>& installed() const { return installed_; }
  // Returns the trees of controllers alone.
  const std::vector<PlacedPart>& changeable() const { return changeable_; }

  // Returns the seeds of reductions that switches have in force. In a fabric whose levels need
  // none, nobody is asked.
  const Seeds& seeds() const { return seeds_; }
  // Gives switches that have no seed that of their level. One that does not take it keeps none.
  SeedSteps give_seeds();

  // Returns, of the trees of controllers, those that workers send through.
  const std::vector<TreeUse>& uses() const { return uses_; }

  // Makes all of the changes or none.
  tl::expected<void, TransactionFailure> carry_out(const std::vector<SwitchChange>& changes);
  // Says why it would refuse that; no value: it would not, or does not say.
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
    nlohmann::json switches;  // null: it was not asked
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
