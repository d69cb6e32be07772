// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "host/journal/timeline.h"

namespace tributary::host {

// A collective that has ended on this rank.
struct Entry {
  std::string_view collective;
  std::string_view by;    // the algorithm
  std::size_t bytes = 0;  // of the vector, on one rank
  Time began{};
  Time ended{};
  bool failed = false;
};

// What was recorded of collectives alike.
struct Tally {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  std::uint64_t bytes = 0;
  Duration total{};
  Duration longest{};
};

// Collectives of one kind, by one algorithm, of vectors of one size class: more than a half of
// `bytes_max`, and up to it.
struct TallyKey {
  std::string_view collective;
  std::size_t bytes_max = 0;  // a power of two; 0: no vector
  std::string_view by;

  auto operator<=>(const TallyKey&) const = default;
};
using Tallies = std::map<TallyKey, Tally>;

// The collectives of one communicator on this rank, where somebody wants to see them: `report` and
// `timeline` of the options.
class Journal {
 public:
  // Of these options' parameters, which are checked; null where nobody does. An error if the
  // timeline cannot be opened.
  static Result<std::unique_ptr<Journal>> open(const CommunicatorOptions& options);

  // One more row of these options' timeline; null where there is none.
  static Result<std::unique_ptr<Timeline>> open_row(const CommunicatorOptions& options,
                                                    const std::string& name);

  bool has_report() const { return report_; }
  // Precondition: the names outlive this.
  void note(const Entry& entry);
  const Tallies& tallies() const { return tallies_; }
  Duration in_collectives() const;

 private:
  bool report_ = false;
  std::unique_ptr<Timeline> timeline_;
  Tallies tallies_;
};

}  // namespace tributary::host
