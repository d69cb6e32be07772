// SPDX-License-Identifier: BSD-3-Clause
#include "property/membership/keeper_model.h"

#include <algorithm>
#include <utility>

namespace tributary::test {

// Rule 1.
void KeeperModel::found(Id id, std::uint32_t rank, std::uint32_t world_size) {
  const bool fits = members_.empty() && rank < world_size && founders_.count(rank) == 0 &&
                    (founders_.empty() || world_size == founders_wanted_);
  if (!fits) {
    return dismiss(id);
  }
  founders_wanted_ = world_size;
  founders_[rank] = id;
  if (founders_.size() < world_size) {
    return;
  }
  std::vector<Id> all;
  for (const auto& [_, founder] : founders_) {
    all.push_back(founder);
  }
  founders_.clear();
  const auto came_before = std::exchange(waiting_, {});
  begin({});
  for (std::uint32_t place = 0; place < all.size(); ++place) {
    members_[place] = all[place];
    tell(all[place], {Kind::place, epoch_, place, world_size, world_size, {}});
  }
  shares_wanted_ = world_size;
  for (const auto& one : came_before) {
    join(one.id, one.options);
  }
}

// Rule 2. All founders have the options 0.
void KeeperModel::join(Id id, std::uint32_t options) {
  if (!members_.empty() && options != 0) {
    return dismiss(id);
  }
  waiting_.push_back({id, options});
  count_waiting();
  decide(host::Time::min());
}

void KeeperModel::count_waiting() {
  for (const auto& [_, member] : members_) {
    tell(member, {Kind::waiting, 0, 0, 0, static_cast<std::uint32_t>(waiting_.size()), {}});
  }
}

// Rules 3 and 4.
bool KeeperModel::regroup(Id id, std::uint64_t epoch, std::uint32_t world_size,
                          host::Duration patience, host::Time now) {
  if (!rank_of(id) || epoch > epoch_) {
    return false;
  }
  if (epoch < epoch_) {
    return true;
  }
  end_for_all_but(id);
  const auto asked_before = wishes_.find(id);
  const auto since = asked_before == wishes_.end() ? now : asked_before->second.since;
  wishes_[id] = {since, patience, world_size};
  decide(now);
  return true;
}

// Rule 3.
void KeeperModel::end_for_all_but(Id id) {
  if (std::exchange(ended_, true)) {
    return;
  }
  for (const auto& [_, member] : members_) {
    if (member != id) {
      tell(member, {Kind::ended, epoch_, 0, 0, 0, {}});
    }
  }
}

// Rule 7.
bool KeeperModel::share(Id id, std::uint64_t epoch, const std::vector<std::byte>& shared) {
  if (!rank_of(id) || epoch != epoch_ || !shares_.emplace(id, shared).second) {
    return false;
  }
  std::vector<std::byte> all;
  for (const auto& [_, member] : members_) {
    const auto found = shares_.find(member);
    if (found == shares_.end() || found->second.size() != shared.size()) {
      return true;
    }
    all.insert(all.end(), found->second.begin(), found->second.end());
  }
  if (members_.size() == shares_wanted_) {
    for (const auto& [_, member] : members_) {
      tell(member, {Kind::shares, epoch_, 0, 0, 0, all});
    }
  }
  return true;
}

void KeeperModel::leave(Id id, host::Time now) {
  std::erase_if(founders_, [&](const auto& one) { return one.second == id; });
  if (std::erase_if(waiting_, [&](const Waiting& one) { return one.id == id; }) != 0) {
    count_waiting();
  }
  const auto rank = rank_of(id);
  if (!rank) {
    return;
  }
  members_.erase(*rank);
  wishes_.erase(id);
  if (members_.empty()) {  // rule 6
    for (const auto& one : std::exchange(waiting_, {})) {
      dismiss(one.id);
    }
    return;
  }
  end_for_all_but(id);
  decide(now);
}

host::Time KeeperModel::deadline() const {
  auto first = host::never;
  host::Duration longest{};
  for (const auto& [_, wish] : wishes_) {
    first = std::min(first, wish.since);
    longest = std::max(longest, wish.patience);
  }
  return wishes_.empty() ? host::never : first + longest;
}

void KeeperModel::expire(host::Time now) {
  if (now >= deadline()) {
    decide(now);
  }
}

// Rule 4.
void KeeperModel::decide(host::Time now) {
  if (wishes_.empty()) {
    return;
  }
  std::size_t wanted = 0;
  for (const auto& [_, wish] : wishes_) {
    wanted = std::max<std::size_t>(wanted, wish.world_size);
  }
  const bool all_are_there =
      wishes_.size() == members_.size() && wishes_.size() + waiting_.size() >= wanted;
  if (!all_are_there && now < deadline()) {
    return;
  }
  std::vector<Id> stay;
  for (const auto& [rank, member] : members_) {
    if (wishes_.count(member) == 0) {
      dismiss(member);
    } else {
      stay.push_back(member);
    }
  }
  begin(stay);
}

// Rules 5 and 6: the next epoch, with the members that stay and those that wait.
void KeeperModel::begin(const std::vector<Id>& stay) {
  const auto before = std::exchange(members_, {});
  ++epoch_;
  ended_ = false;
  wishes_.clear();
  shares_.clear();
  const auto newcomers = std::exchange(waiting_, {});
  std::map<std::uint32_t, Id> places;
  for (const auto& [rank, member] : before) {
    if (std::find(stay.begin(), stay.end(), member) != stay.end()) {
      places[places.empty() ? 0 : rank] = member;
    }
  }
  std::uint32_t least = 0;
  for (const auto& one : newcomers) {
    while (places.count(least) != 0) {
      ++least;
    }
    places[least] = one.id;
  }
  std::uint32_t next = 0;
  for (const auto& [_, member] : places) {
    members_[next++] = member;
  }
  shares_wanted_ = next;
  for (const auto& [rank, member] : members_) {
    tell(member,
         {Kind::place, epoch_, rank, next, static_cast<std::uint32_t>(newcomers.size()), {}});
  }
}

std::map<KeeperModel::Id, std::vector<KeeperModel::Said>> KeeperModel::take() {
  return std::exchange(said_, {});
}

bool KeeperModel::waits(Id id) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& one) { return one.id == id; });
}

std::optional<std::uint32_t> KeeperModel::rank_of(Id id) const {
  for (const auto& [rank, member] : members_) {
    if (member == id) {
      return rank;
    }
  }
  return std::nullopt;
}

}  // namespace tributary::test
