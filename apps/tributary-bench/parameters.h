// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "host/communicator_options.h"

namespace tributary::bench {

// Declares an option for every parameter of a protocol that has one. A parameter that is not given
// stays as it is.
void declare_parameters(CLI::App& app, CommunicatorOptions& out);

// Returns the parameters of protocols as a table of Markdown, of which docs/reference is made.
std::string reference_text();

}  // namespace tributary::bench
