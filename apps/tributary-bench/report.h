// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "measure.h"
#include "options.h"
#include "totals.h"

namespace tributary::bench {

// Of names of types and operators, behind which is a null.
inline const char* text(std::string_view name) {
  return name.data();
}

// What the figures of a run are related to.
struct Setting {
  Collective collective = Collective::allreduce;
  std::uint32_t ranks = 1;
  std::size_t payload_bytes_max = 0;
  std::size_t line_bytes = 0;  // that a packet with this payload occupies on the line
  std::uint64_t line_rate_bps = 0;

  double payload_efficiency() const {
    return static_cast<double>(payload_bytes_max) / static_cast<double>(line_bytes);
  }
  double algbw(const Row& row, const Series& series) const;  // bytes per second
  // What the best host-based algorithm would need its links to carry for the same time
  // (nccl-tests, PERFORMANCE.md).
  double busbw(const Row& row, const Series& series) const;
  double share(const Row& row, const Series& series) const;  // of line-rate goodput
};

// Where rows go; on rank 0 only.
class Report {
 public:
  // To standard output, in the layout asked for.
  static std::unique_ptr<Report> make(const Options& options, const Setting& setting);
  // The JSON document to a file; null if that cannot be written.
  static std::unique_ptr<Report> make_record(const Options& options, const Setting& setting);
  virtual ~Report() = default;
  virtual void begin() {}
  virtual void row(const Row& row) = 0;
  // Once.
  virtual void end(const Totals& /*totals*/) {}
};

}  // namespace tributary::bench
