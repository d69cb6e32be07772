// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace tributary::ctl {

// Tells what is wrong with a command line that `app` did not take, and what may have been meant.
std::string usage_complaint(const CLI::App& app, const CLI::ParseError& error);

// Accepts seconds from `least` to `most`; unlike CLI::Range, it does not take "nan".
CLI::Validator seconds_between(double least, double most);

// Accepts a whole number without a sign, which CLI11 itself takes for the greatest that there is,
// and without zeros in front, with which it is octal to CLI11.
CLI::Validator whole_number();

}  // namespace tributary::ctl
