// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "host/clock.h"

namespace tributary::test {

// A model of what a keeper has to say by its rules (docs/reference/wire/membership.md) after the
// messages that came to it. It has sets of processes, and none of the code under test. Rules are
// cited by their numbers.
class KeeperModel {
 public:
  using Id = std::uint64_t;

  enum class Kind : std::uint8_t { place, shares, waiting, ended, dismissed };
  struct Said {
    Kind kind{};
    std::uint64_t epoch = 0;
    std::uint32_t rank = 0;
    std::uint32_t world_size = 0;
    std::uint32_t count = 0;        // of newcomers, or of waiting processes
    std::vector<std::byte> shared;  // by all

    friend bool operator==(const Said&, const Said&) = default;
  };

  void found(Id id, std::uint32_t rank, std::uint32_t world_size);
  // `options` must be the same for all members.
  void join(Id id, std::uint32_t options);
  // Refuses a process that is not of this world, by its version or its secret.
  void refuse(Id id) { dismiss(id); }
  // Returns false for a message that no rule allows.
  bool regroup(Id id, std::uint64_t epoch, std::uint32_t world_size, host::Duration patience,
               host::Time now);
  bool share(Id id, std::uint64_t epoch, const std::vector<std::byte>& shared);
  void leave(Id id, host::Time now);
  void expire(host::Time now);
  host::Time deadline() const;

  // Returns what the keeper must have said since the last look, to each process in this order.
  std::map<Id, std::vector<Said>> take();

  std::uint64_t epoch() const { return epoch_; }
  const std::map<std::uint32_t, Id>& members() const { return members_; }
  bool waits(Id id) const;

 private:
  struct Waiting {
    Id id = 0;
    std::uint32_t options = 0;
  };
  struct Wish {
    host::Time since;
    host::Duration patience{};
    std::uint32_t world_size = 0;
  };

  std::optional<std::uint32_t> rank_of(Id id) const;
  void tell(Id id, const Said& said) { said_[id].push_back(said); }
  void dismiss(Id id) { tell(id, {Kind::dismissed, 0, 0, 0, 0, {}}); }
  void end_for_all_but(Id id);
  void count_waiting();
  void decide(host::Time now);
  void begin(const std::vector<Id>& stay);

  std::uint64_t epoch_ = 0;
  bool ended_ = false;
  std::map<std::uint32_t, Id> founders_;  // by rank
  std::uint32_t founders_wanted_ = 0;
  std::map<std::uint32_t, Id> members_;  // still in the world, by rank
  std::map<Id, Wish> wishes_;
  std::map<Id, std::vector<std::byte>> shares_;
  std::uint32_t shares_wanted_ = 0;
  std::vector<Waiting> waiting_;
  std::map<Id, std::vector<Said>> said_;
};

}  // namespace tributary::test
