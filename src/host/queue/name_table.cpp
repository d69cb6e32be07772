// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/name_table.h"

#include <algorithm>
#include <tuple>

namespace tributary::host {

std::optional<std::size_t> NameTable::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void NameTable::announce(const std::string& name, const Shape& shape, std::uint32_t rank) {
  const auto known = find(name);
  const auto number = known ? *known : number_for_another();
  numbers_[name] = number;
  rows_[number] = {name, shape, rank, true, 0};
}

void NameTable::end(std::size_t number) {
  rows_[number].open = false;
  rows_[number].ended = ++ends_;
}

std::size_t NameTable::number_for_another() {
  if (rows_.size() >= capacity_) {
    const auto first =
        std::min_element(rows_.begin(), rows_.end(), [](const Row& one, const Row& other) {
          return std::tie(one.open, one.ended) < std::tie(other.open, other.ended);
        });
    if (first != rows_.end() && !first->open) {
      numbers_.erase(first->name);
      return static_cast<std::size_t>(first - rows_.begin());
    }
  }
  rows_.emplace_back();
  return rows_.size() - 1;
}

}  // namespace tributary::host
