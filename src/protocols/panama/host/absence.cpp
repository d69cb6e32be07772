// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/absence.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tributary::host {
namespace {

// A search takes up to so many look-ups: a rank does not wait for it for long.
constexpr std::uint64_t look_ups_max = 1 << 16;
constexpr std::size_t known_max = 4;

// Searches the tags of a packet for some whose sum is known.
class TagSearch {
 public:
  // `tags` are those of all ranks.
  explicit TagSearch(std::vector<std::uint64_t> tags) : tags_(std::move(tags)) {}

  // Returns the `count` ranks whose tags add up to `sum`, if there are any.
  std::optional<PanamaAbsence::Ranks> find(std::uint64_t sum, std::size_t count) {
    if (count == 1) {
      return find_one(sum);
    }
    for (std::uint32_t rank = 0; rank < tags_.size(); ++rank) {
      ranks_.emplace_back(tags_[rank], rank);
    }
    std::sort(ranks_.begin(), ranks_.end());
    return extend(sum, count, 0) ? std::optional(found_) : std::nullopt;
  }

 private:
  // Needs no table, as it looks once.
  std::optional<PanamaAbsence::Ranks> find_one(std::uint64_t tag) const {
    const auto at = std::find(tags_.begin(), tags_.end(), tag);
    const auto rank = static_cast<std::uint32_t>(at - tags_.begin());
    return at == tags_.end() ? std::nullopt : std::optional(PanamaAbsence::Ranks{rank});
  }

  // Tries all choices but for the last rank of each, whose tag is what the others leave.
  bool extend(std::uint64_t sum, std::size_t count, std::uint32_t from) {
    if (count == 1) {
      return look_up(sum, from);
    }
    for (auto rank = from; rank + count <= tags_.size(); ++rank) {
      found_.push_back(rank);
      if (extend(sum - tags_[rank], count - 1, rank + 1)) {
        return true;
      }
      found_.pop_back();
    }
    return false;
  }

  bool look_up(std::uint64_t tag, std::uint32_t from) {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), std::pair(tag, from));
    if (at == ranks_.end() || at->first != tag) {
      return false;
    }
    found_.push_back(at->second);
    return true;
  }

  std::vector<std::uint64_t> tags_;                             // by rank
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranks_;  // by tag
  PanamaAbsence::Ranks found_;
};

PanamaAbsence::Ranks all_but(const PanamaAbsence::Ranks& present, std::uint32_t world_size) {
  PanamaAbsence::Ranks missing;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    if (!std::binary_search(present.begin(), present.end(), rank)) {
      missing.push_back(rank);
    }
  }
  return missing;
}

}  // namespace

// Whoever is fewer is searched for, those that are missing or the others. There are
// C(ranks, fewer - 1) choices of all but the last.
bool PanamaAbsence::can_find(std::uint32_t world_size, std::uint32_t missing) {
  const auto fewer = std::min(missing, world_size / 2);
  std::uint64_t choices = 1;
  for (std::uint32_t chosen = 0; chosen + 1 < fewer && choices <= look_ups_max; ++chosen) {
    choices = choices * (world_size - chosen) / (chosen + 1);
  }
  return choices <= look_ups_max;
}

std::optional<PanamaAbsence::Ranks> PanamaAbsence::find(const JobKey& key, const PanamaPlace& place,
                                                        std::uint64_t fingerprint,
                                                        std::uint32_t missing) {
  const auto lacking = panama_total_tag(key, place, world_size_) - fingerprint;
  if (auto known = find_known(key, place, lacking, missing)) {
    return known;
  }
  ++searches_;
  TagSearch search(panama_tags(key, place, world_size_));
  const auto present = world_size_ - missing;
  auto found =
      missing <= present ? search.find(lacking, missing) : search.find(fingerprint, present);
  if (found && missing > present) {
    found = all_but(*found, world_size_);
  }
  if (found) {
    known_.push_front(*found);
    known_.resize(std::min(known_.size(), known_max));
  }
  return found;
}

// Returns what was found before, if it fits again.
std::optional<PanamaAbsence::Ranks> PanamaAbsence::find_known(const JobKey& key,
                                                              const PanamaPlace& place,
                                                              std::uint64_t lacking,
                                                              std::uint32_t missing) {
  const auto fits = [&](const Ranks& ranks) {
    std::uint64_t sum = 0;
    for (const auto rank : ranks) {
      sum += panama_tag(key, place, rank);
    }
    return sum == lacking;
  };
  const auto known = std::find_if(known_.begin(), known_.end(), [&](const Ranks& ranks) {
    return ranks.size() == missing && fits(ranks);
  });
  if (known == known_.end()) {
    return std::nullopt;
  }
  std::rotate(known_.begin(), known, std::next(known));
  return known_.front();
}

}  // namespace tributary::host
