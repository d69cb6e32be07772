// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "options.h"
#include "reading.h"

namespace tributary::pktgen {

// An Outcome is everything there is to tell at the end.
struct Outcome {
  std::vector<traffic::TrialResult> trials;
  const traffic::TrialResult* best = nullptr;  // of a search
  std::vector<PortCounters> ports;
  std::vector<std::string> port_names;
};

// A Report hears about a run. The control thread calls it.
class Report {
 public:
  virtual ~Report() = default;
  virtual void refresh(const Reading& /*reading*/) {}
  // Takes a trial that was over at that time since the start.
  virtual void trial(const traffic::TrialResult& /*result*/, std::size_t /*number*/,
                     double /*seconds*/) {}
  // The error names a file that could not be written.
  virtual tl::expected<void, std::string> end(const Outcome& outcome) = 0;
};

// Makes the reports that the options ask for: for people, and to files. The error names a file that
// cannot be written.
tl::expected<std::vector<std::unique_ptr<Report>>, std::string> make_reports(
    const Options& options);

std::unique_ptr<Report> make_text_report(const Options& options);
tl::expected<std::unique_ptr<Report>, std::string> make_json_report(const Options& options);
tl::expected<std::unique_ptr<Report>, std::string> make_csv_report(const Options& options);

double in_us(std::uint64_t ns);
const char* name_of(traffic::Mode mode);
const char* name_of(traffic::Trial::Phase phase);

}  // namespace tributary::pktgen
