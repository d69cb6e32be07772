// SPDX-License-Identifier: BSD-3-Clause
// This file tells what the command line means.
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "host/protocol.h"
#include "host/sparse_vector.h"
#include "options_raw.h"

namespace tributary::bench {
namespace {

// Returns the values of an enumeration that words stand for; `all` is how many "all" stands for, if
// it is a word. CLI11's transformers are not used: they complain with the numbers of the values.
template <typename T, typename Of>
std::vector<T> values_of(const std::vector<std::string>& words, Of of, const std::string& complaint,
                         std::size_t all = 0) {
  std::vector<T> values;
  for (const std::string& word : words) {
    if (word == "all" && all > 0) {
      for (std::size_t i = 0; i < all; ++i) {
        values.push_back(static_cast<T>(i));
      }
    } else if (const std::optional<T> value = of(word)) {
      values.push_back(*value);
    } else {
      throw CLI::ValidationError(word, complaint);
    }
  }
  return values;
}

// A type goes by our own name or by NCCL's.
std::optional<wire::ElementType> type_of(std::string_view text) {
  constexpr std::pair<std::string_view, wire::ElementType> nccl_names[] = {
      {"float", wire::ElementType::f32}, {"double", wire::ElementType::f64},
      {"half", wire::ElementType::f16},  {"bfloat16", wire::ElementType::bf16},
      {"int8", wire::ElementType::i8},   {"int16", wire::ElementType::i16},
      {"int32", wire::ElementType::i32}, {"int64", wire::ElementType::i64}};
  for (const auto& [alias, type] : nccl_names) {
    if (text == alias) {
      return type;
    }
  }
  return wire::element_type_of(text);
}

// For a sparse allreduce, "all" are the types that it takes.
void keep_sparse_types(std::vector<wire::ElementType>& types) {
  std::erase_if(types, [](wire::ElementType type) { return !is_sparse_type(type); });
  if (types.empty()) {
    throw CLI::ValidationError(
        "--datatype", "a sparse allreduce has no elements of this type; choose a wider one");
  }
}

void require_floats(const Options& options) {
  if (options.misalignment % sizeof(float) != 0) {
    throw CLI::ValidationError("--misalign", "sketches are of floats that are aligned");
  }
  if (options.types != std::vector{wire::ElementType::f32} ||
      options.operators != std::vector{wire::Operator::sum}) {
    throw CLI::ValidationError("--datatype", "sketches are of f32, and added up");
  }
}

// Every vector has to be whole rows.
void require_matrices(const Options& options) {
  if (options.low_rank == 0) {
    if (options.sketch.bits == 32) {
      throw CLI::ValidationError("--bits", "32 are for factors: say --low-rank");
    }
    if (options.columns != 0) {
      throw CLI::ValidationError("--columns", "only matrices have some: say --low-rank");
    }
    return;
  }
  if (options.sketch.kind != SketchKind::grid) {
    throw CLI::ValidationError("--low-rank", "factors go on a grid");
  }
  auto counts = options.counts;
  for (const auto size : options.counts.empty() ? options.sizes : std::vector<std::size_t>{}) {
    counts.push_back(size / sizeof(float));
  }
  for (const auto count : counts) {
    if (options.columns != 0 && count % options.columns != 0) {
      throw CLI::ValidationError("--columns", std::to_string(count) + " elements are no rows of " +
                                                  std::to_string(options.columns));
    }
  }
}

// "all" skips what does not exist; where nothing is left, nothing would be measured.
void require_reduction(const Options& options) {
  if (!options.has_operator()) {
    return;
  }
  for (const auto type : options.types) {
    for (const auto op : options.operators) {
      if (wire::is_valid(type, op)) {
        return;
      }
    }
  }
  throw CLI::ValidationError("--op",
                             std::string(wire::valid_combinations) + "; choose another --datatype");
}

std::vector<std::string> algorithms_of(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    CommunicatorOptions options;
    options.algorithm = name;
    if (host::protocol_of(options) == nullptr) {
      throw CLI::ValidationError(name, "is no algorithm: " + host::known_algorithms());
    }
  }
  return names;
}

// Only one of the algorithms with sockets of their own fits into a run.
bool has_own_sockets(const std::string& algorithm) {
  return algorithm != host::ring_algorithm && algorithm != host::automatic_algorithm;
}

// Returns the algorithm of the communicator with which all that are measured can be run.
std::string common_algorithm(const std::vector<std::string>& measured) {
  std::string common(host::ring_algorithm);
  for (const auto& algorithm : measured) {
    if (algorithm != common && has_own_sockets(algorithm) && has_own_sockets(common)) {
      throw CLI::ValidationError("--algorithm", common + " and " + algorithm + " need a run each");
    }
    if (common == host::ring_algorithm || has_own_sockets(algorithm)) {
      common = algorithm;
    }
  }
  return common;
}

std::vector<std::size_t> sizes_of(const Raw& raw) {
  if (raw.minimum > raw.maximum) {
    throw CLI::ValidationError(
        "--minbytes", std::to_string(raw.minimum) + " is more than " + std::to_string(raw.maximum));
  }
  std::vector<std::size_t> sizes;
  for (std::size_t size = raw.minimum; size <= raw.maximum;) {
    sizes.push_back(size);
    if (size == 0 && raw.increment == 0) {
      size = 1;
    } else {
      size = raw.increment > 0 ? size + raw.increment : size * raw.factor;
    }
  }
  return sizes;
}

bool may_be_partial(const CommunicatorOptions& options) {
  const auto* const protocol = host::protocol_of(options);
  return protocol != nullptr && protocol->partial != nullptr && protocol->partial(options);
}

// The automatic hierarchy cannot be asked for: results have to tell which one it was.
std::optional<Hierarchy> measured_hierarchy(const std::string& text) {
  const auto hierarchy = hierarchy_of(text);
  return hierarchy == Hierarchy::automatic ? std::nullopt : hierarchy;
}

// If a sum may lack machines, nobody can tell what it should be.
bool can_be_verified(const Options& options) {
  return !options.may_lack_ranks() || options.hierarchies.empty() ||
         !may_be_partial(options.between_machines());
}

}  // namespace

std::optional<LowRank> Options::matrix_of(std::size_t count) const {
  if (low_rank == 0) {
    return std::nullopt;
  }
  if (columns != 0) {
    return LowRank{count / columns, columns, low_rank};
  }
  auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
  while (rows > 1 && count % rows != 0) {
    --rows;
  }
  return LowRank{rows, rows == 0 ? 0 : count / rows, low_rank};
}

void interpret(const Raw& raw, Options& options) {
  options.sizes = sizes_of(raw);
  options.counts = raw.counts;
  options.types = values_of<wire::ElementType>(
      raw.types, type_of, "is no type: " + wire::listed(wire::element_type_names) + " or all",
      wire::built_in_type_count);
  options.operators = values_of<wire::Operator>(
      raw.operators, wire::operator_of,
      "is no operator: " + wire::listed(wire::operator_names) + ", handler:0 to handler:63 or all",
      wire::operator_count);
  options.handlers = handlers_of(raw.handlers, options.types);
  if (options.is_sparse()) {
    keep_sparse_types(options.types);
  }
  if (options.is_sketched()) {
    require_floats(options);
    require_matrices(options);
    options.sketch.feedback = false;  // sums would have the residuals of those before
  }
  require_reduction(options);
  options.algorithms = algorithms_of(raw.algorithms);
  options.hierarchies = values_of<Hierarchy>(raw.hierarchies, measured_hierarchy,
                                             "is no hierarchy: parallel or tencent");
  options.between = algorithms_of({raw.between}).front();
  options.layout = raw.json              ? Layout::json
                   : raw.csv             ? Layout::csv
                   : raw.layout == "osu" ? Layout::osu
                                         : Layout::nccl;
  options.communicator.algorithm = common_algorithm(options.algorithms);
  options.communicator.local_world_size = options.local_world_size;
  options.density = options.is_sparse() ? raw.density : 1;
  options.check = raw.check.value_or(1) != 0 && can_be_verified(options);
  options.must_check = raw.check == 1;
  if (options.must_check && !options.check) {
    throw CLI::ValidationError("--check",
                               "sums that may lack machines (partial aggregation) cannot be "
                               "verified; say 0, or leave it out");
  }
  if (options.communicator.world_size != 0 && options.root >= options.communicator.world_size) {
    throw CLI::ValidationError("--root", "is not a rank");
  }
  if (options.collective == Collective::barrier) {
    options.counts = {0};
  }
}

}  // namespace tributary::bench
