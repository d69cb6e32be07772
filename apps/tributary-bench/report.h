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

// The names of types and operators have a null behind them.
inline const char* text(std::string_view name) {
  return name.data();
}

// The figures of a run are related to a Setting.
struct Setting {
  Collective collective = Collective::allreduce;
  std::uint32_t ranks = 1;
  std::size_t payload_bytes_max = 0;
  std::size_t line_bytes = 0;  // occupied on the line by a packet with this payload
  std::uint64_t line_rate_bps = 0;

  double payload_efficiency() const {
    return static_cast<double>(payload_bytes_max) / static_cast<double>(line_bytes);
  }
  double algbw(const Row& row, const Series& series) const;  // bytes per second
  // Returns what the best host-based algorithm would need its links to carry for the same time
  // (nccl-tests, PERFORMANCE.md).
  double busbw(const Row& row, const Series& series) const;
  double share(const Row& row, const Series& series) const;  // of line-rate goodput
};

// A Report is where rows go; only rank 0 has one.
class Report {
 public:
  // Makes a report to standard output, in the layout asked for.
  static std::unique_ptr<Report> make(const Options& options, const Setting& setting);
  // Makes a report of the JSON document to a file; null if that cannot be written.
  static std::unique_ptr<Report> make_record(const Options& options, const Setting& setting);
  virtual ~Report() = default;
  virtual void begin() {}
  virtual void row(const Row& row) = 0;
  // Is called once.
  virtual Result<void> end(const Totals& /*totals*/) { return {}; }
};

}  // namespace tributary::bench
