// SPDX-License-Identifier: BSD-3-Clause
#include "host/journal/journal.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "host/journal/parameters.h"
#include "host/parameter.h"

namespace tributary::host {

Result<std::unique_ptr<Journal>> Journal::open(const CommunicatorOptions& options) {
  const Values values(options.parameters, journal_parameters);
  auto journal = std::make_unique<Journal>();
  journal->report_ = values.on("report");
  const auto path = values.text("timeline");
  if (path.empty()) {
    return journal->report_ ? std::move(journal) : nullptr;
  }
  return Timeline::open(path, options.rank, options.world_size)
      .map([&](std::unique_ptr<Timeline> timeline) {
        journal->timeline_ = std::move(timeline);
        return std::move(journal);
      });
}

Result<std::unique_ptr<Timeline>> Journal::open_row(const CommunicatorOptions& options,
                                                    const std::string& name) {
  const auto path = Values(options.parameters, journal_parameters).text("timeline");
  return path.empty() ? nullptr : Timeline::open_row(path, name);
}

void Journal::note(const Entry& entry) {
  if (report_) {
    const auto size_class = entry.bytes == 0 ? 0 : std::bit_ceil(entry.bytes);
    auto& tally = tallies_[{entry.collective, size_class, entry.by}];
    const auto took = entry.ended - entry.began;
    ++tally.calls;
    tally.failures += entry.failed ? 1 : 0;
    tally.bytes += entry.bytes;
    tally.total += took;
    tally.longest = std::max(tally.longest, took);
  }
  if (timeline_) {
    timeline_->add(entry);
  }
}

Duration Journal::in_collectives() const {
  return std::accumulate(tallies_.begin(), tallies_.end(), Duration{},
                         [](Duration sum, const auto& row) { return sum + row.second.total; });
}

}  // namespace tributary::host
