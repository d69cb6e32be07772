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
#include "control/fabric_file.h"
#include "in_use.h"

namespace tributary::ctl {

// What the switches of a fabric have and say. Switches that share a daemon share a connection.
class LiveFabric {
 public:
  LiveFabric(const control::FabricFile& fabric, std::chrono::milliseconds timeout);

  // Without an answer, the reason.
  const std::optional<control::CallError>& silence(std::size_t sw) const { return silent_[sw]; }
  bool all_answer() const;
  // What is not there: switches, ports.
  const std::vector<std::string>& faults() const { return faults_; }

  // The file's topology and what keeps trees from parts of it. Switches that do not answer are
  // taken for good or for unusable.
  controller::Topology topology(bool silent_usable) const;
  // Trees of the file of a daemon and of controllers.
  const std::vector<controller::PlacedPart>& installed() const { return installed_; }
  // Those of controllers alone.
  const std::vector<controller::PlacedPart>& changeable() const { return changeable_; }

  // Of those of controllers, what workers send through.
  const std::vector<TreeUse>& uses() const { return uses_; }

  tl::expected<void, std::string> install(std::size_t sw, const std::vector<std::uint32_t>& jobs,
                                          const std::vector<controller::TreePart>& parts,
                                          bool check);

 private:
  using Point = std::pair<std::string, std::string>;  // ssh, socket
  using Called = tl::expected<nlohmann::json, control::CallError>;
  struct Daemon {
    std::optional<control::Client> client;
    std::optional<control::CallError> error;
    nlohmann::json ports;
    nlohmann::json trees;
  };
  struct SwitchState {
    std::map<std::string, bool> ports;  // whether they are up
    bool panama = false;
    std::size_t trees_max = 0;
  };

  Daemon& daemon_of(std::size_t sw);
  void connect(Daemon& daemon, const control::ControlPoint& point);
  void ask(Daemon& daemon);
  static Called call(Daemon& daemon, const char* method, nlohmann::json params);
  void read_switch(std::size_t sw, const Daemon& daemon);
  void check_switches();
  void check_port(const controller::SwitchPort& port, const std::string& user);
  std::string unusable(const controller::SwitchPort& port) const;
  std::string port_name(const controller::SwitchPort& port) const;

  const control::FabricFile& fabric_;
  std::chrono::milliseconds timeout_;
  std::map<Point, Daemon> daemons_;
  std::vector<std::optional<control::CallError>> silent_;  // by switch
  std::vector<SwitchState> states_;                        // by switch
  std::vector<std::string> faults_;
  std::vector<controller::PlacedPart> installed_;
  std::vector<controller::PlacedPart> changeable_;
  std::vector<TreeUse> uses_;
};

}  // namespace tributary::ctl
