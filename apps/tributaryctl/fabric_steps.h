// SPDX-License-Identifier: BSD-3-Clause
// The commands of `tributaryctl fabric` have these in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "controller/fabric_file.h"
#include "controller/fabric_transaction.h"
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

// These tell which switches do not answer, and why: for programs, on standard error, and as what
// ends a command.
nlohmann::json silent_switches(const controller::FabricFile& file, const LiveFabric& live);
std::vector<std::string> silent_texts(const controller::FabricFile& file, const LiveFabric& live);
void print_silent(const controller::FabricFile& file, const LiveFabric& live);
ExitCode report_silent(const Options& options, const controller::FabricFile& file,
                       const LiveFabric& live);

// These tell which switches trees go around because they would not take them, and why: for
// programs, as text, and on standard error.
nlohmann::json detours_json(const controller::FabricFile& file, const controller::Plan& plan);
std::vector<std::string> detour_texts(const controller::FabricFile& file,
                                      const controller::Plan& plan);
void print_detours(const controller::FabricFile& file, const controller::Plan& plan);

// Returns why jobs have no place, with their places in the file.
control::ConfigErrors errors_of(const controller::FabricFile& file,
                                const std::vector<controller::Refusal>& refusals);

// Tells why not all switches have what they were to have, and what the others have.
std::string text_of(const controller::FabricFile& file,
                    const controller::TransactionFailure& failure);
tl::expected<void, controller::TransactionFailure> install_all(
    LiveFabric& live, const std::vector<controller::SwitchChange>& changes);
Step<void> carry_out(const Options& options, const controller::FabricFile& file, LiveFabric& live,
                     const std::vector<controller::SwitchChange>& changes);

}  // namespace tributary::ctl
