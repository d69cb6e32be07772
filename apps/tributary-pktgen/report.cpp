// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <utility>

namespace tributary::pktgen {

double in_us(std::uint64_t ns) {
  return static_cast<double>(ns) / 1000.0;
}

const char* name_of(traffic::Mode mode) {
  constexpr const char* names[] = {"run", "ndr", "pdr", "pcap"};
  return names[static_cast<std::size_t>(mode)];
}

const char* name_of(traffic::Trial::Phase phase) {
  constexpr const char* names[] = {"warm-up", "measure", "drain", "done"};
  return names[static_cast<std::size_t>(phase)];
}

tl::expected<std::vector<std::unique_ptr<Report>>, std::string> make_reports(
    const Options& options) {
  std::vector<std::unique_ptr<Report>> reports;
  reports.push_back(make_text_report(options));
  for (const auto& [file, make] :
       {std::pair{&options.json, &make_json_report}, {&options.csv, &make_csv_report}}) {
    if (file->empty()) {
      continue;
    }
    auto report = make(options);
    if (!report) {
      return tl::unexpected(report.error());
    }
    reports.push_back(std::move(*report));
  }
  return reports;
}

}  // namespace tributary::pktgen
