// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "control/backend.h"
#include "control/config_diff.h"
#include "control/loader.h"

namespace tributary::control {

// Operators and programs see this. Counters end in _total, quantities in their base unit.
nlohmann::json to_json(const DaemonStatus& status);
nlohmann::json to_json(const SwitchStatus& status);
nlohmann::json to_json(const PortStatus& status);
nlohmann::json to_json(const ClassStatus& status);
nlohmann::json to_json(const RouteStatus& status);
nlohmann::json to_json(const BfdStatus& status);
nlohmann::json to_json(const FdbStatus& status);
nlohmann::json to_json(const VlanStatus& status);
nlohmann::json to_json(const ArpStatus& status);
nlohmann::json to_json(const RouteStatus6& status);
nlohmann::json to_json(const NeighbourStatus6& status);
nlohmann::json to_json(const EngineStatus& status);
nlohmann::json to_json(const JobRow& row);
nlohmann::json to_json(const DescriptorRow& row);
nlohmann::json to_json(const StallRow& row);
nlohmann::json to_json(const ConfigChange& change);
nlohmann::json to_json(const ConfigErrors& errors);
nlohmann::json to_json(const Ledger& ledger);  // the account without its reasons

// There is one row per place and reason at which packets end: switches, ports, cores. Rows of zero
// are there, too.
nlohmann::json drop_rows(const std::vector<SwitchStatus>& switches,
                         const std::vector<PortStatus>& ports,
                         const std::vector<CoreStatus>& cores);

}  // namespace tributary::control
