// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/queue/shape.h"

namespace tributary::host {

// The names with their numbers, by which ranks vote. The table is the same on all ranks, because it
// changes only by what all of them hear alike. A name keeps its number when its collective is over:
// posted again, it need not be announced.
class NameTable {
 public:
  struct Row {
    std::string name;
    Shape shape;
    std::uint32_t announcer = 0;  // a rank
    bool open = false;            // announced, and its collective is not over
    std::uint64_t ended = 0;      // what ended later has a larger one
  };

  // `capacity`: from so many names on, a new one takes the number of the one that ended first. Only
  // open names let the table grow further.
  explicit NameTable(std::size_t capacity) : capacity_(capacity) {}

  std::size_t size() const { return rows_.size(); }
  const Row& operator[](std::size_t number) const { return rows_[number]; }
  std::optional<std::size_t> find(const std::string& name) const;

  void announce(const std::string& name, const Shape& shape, std::uint32_t rank);
  void end(std::size_t number);

 private:
  std::size_t number_for_another();

  std::size_t capacity_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::uint64_t ends_ = 0;
};

}  // namespace tributary::host
