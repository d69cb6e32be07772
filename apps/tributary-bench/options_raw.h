// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace tributary::bench {

// This is what stands on the command line, before it means anything.
struct Raw {
  std::size_t minimum = std::size_t{4} << 10;
  std::size_t maximum = std::size_t{16} << 20;
  std::size_t factor = 2;
  std::size_t increment = 0;  // instead of the factor
  std::vector<std::size_t> counts;
  std::vector<std::string> types = {"f32"};
  std::vector<std::string> operators = {"sum"};
  std::vector<std::string> handlers;
  std::vector<std::string> algorithms;
  std::vector<std::string> hierarchies;
  std::string between = "auto";
  double density = 0.01;
  std::optional<int> check;
  bool csv = false;
  bool json = false;
  std::string layout = "nccl";
};

// Puts what it means into `options`, whose collective is known. Throws CLI::ValidationError.
void interpret(const Raw& raw, Options& options);

}  // namespace tributary::bench
