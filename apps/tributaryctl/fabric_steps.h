// SPDX-License-Identifier: BSD-3-Clause
// The commands of `tributaryctl fabric` have these in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "controller/fabric_file.h"
#include "controller/fabric_texts.h"
#include "controller/live_fabric.h"
#include "controller/plan.h"
#include "fabric.h"

namespace tributary::ctl {

using controller::LiveFabric;

template <class T>
using Step = tl::expected<T, ExitCode>;  // an error was reported

Step<controller::FabricFile> read_file(const Options& options, const FabricOptions& fabric);

const std::string& name_of(const controller::FabricFile& file, std::size_t sw);
std::string names_of(const controller::FabricFile& file,
                     const std::vector<controller::SwitchChange>& changes);
std::vector<std::uint32_t> ids_of(const controller::FabricFile& file);

// These tell which switches do not answer, and why: for programs, and as what ends a command.
nlohmann::json silent_switches(const controller::FabricFile& file, const LiveFabric& live);
ExitCode report_silent(const Options& options, const controller::FabricFile& file,
                       const LiveFabric& live);

// Tells programs which switches trees go around because they would not take them, and why.
nlohmann::json detours_json(const controller::FabricFile& file, const controller::Plan& plan);

// Prints them on standard error.
void warn(const std::vector<std::string>& texts);

Step<void> carry_out(const Options& options, const controller::FabricFile& file, LiveFabric& live,
                     const std::vector<controller::SwitchChange>& changes);

}  // namespace tributary::ctl
