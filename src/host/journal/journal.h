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

// Has what was recorded of collectives with the same key.
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

// Records the collectives of one communicator on this rank, where the options ask for a `report` or
// a `timeline`.
class Journal {
 public:
  // Opens what the parameters of these options, which are checked, ask for; null if they ask for
  // neither. Fails if the timeline cannot be opened.
  static Result<std::unique_ptr<Journal>> open(const CommunicatorOptions& options);

  // Opens one more row of these options' timeline; null where there is none.
  static Result<std::unique_ptr<Timeline>> open_row(const CommunicatorOptions& options,
                                                    const std::string& name);

  bool has_report() const { return report_; }
  // Precondition: the names in the entry outlive this object.
  void note(const Entry& entry);
  const Tallies& tallies() const { return tallies_; }
  Duration in_collectives() const;

 private:
  bool report_ = false;
  std::unique_ptr<Timeline> timeline_;
  Tallies tallies_;
};

}  // namespace tributary::host
