// SPDX-License-Identifier: BSD-3-Clause
// What the commands of `tributaryctl fabric` have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "control/fabric_file.h"
#include "control/fabric_transaction.h"
#include "controller/placement.h"
#include "fabric.h"
#include "fabric_live.h"

namespace tributary::ctl {

template <class T>
using Step = tl::expected<T, ExitCode>;  // the error was reported

Step<control::FabricFile> read_file(const Options& options, const FabricOptions& fabric);

const std::string& name_of(const control::FabricFile& file, std::size_t sw);
std::string names_of(const control::FabricFile& file,
                     const std::vector<control::SwitchChange>& changes);
std::vector<std::uint32_t> ids_of(const control::FabricFile& file);
std::vector<controller::PlacedPart> parts_of(const std::vector<controller::PlacedJob>& placed);

// Switches that do not answer, and why: for programs, on standard error, and as what ends a
// command.
nlohmann::json silent_switches(const control::FabricFile& file, const LiveFabric& live);
void print_silent(const control::FabricFile& file, const LiveFabric& live);
ExitCode report_silent(const Options& options, const control::FabricFile& file,
                       const LiveFabric& live);

// Why jobs have no place, with their places in the file.
control::ConfigErrors errors_of(const control::FabricFile& file,
                                const std::vector<controller::Refusal>& refusals);

Step<void> carry_out(const Options& options, const control::FabricFile& file, LiveFabric& live,
                     const std::vector<control::SwitchChange>& changes);

}  // namespace tributary::ctl
