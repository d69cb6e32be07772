// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/frame.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"
#include "wire/key.h"

namespace tributary::panama {

// The trees that are installed, each (job, tree) once.
class TreeTable {
 public:
  // Null: it is not here.
  Tree* find(std::uint32_t job, std::uint16_t tree) const {
    const auto key = wire::panama_key(job, tree);
    const auto mask = index_.size() - 1;
    auto at = wire::mix_key(key, 0) & mask;
    while (index_[at] != nullptr && key_of(*index_[at]) != key) {
      at = (at + 1) & mask;
    }
    return index_[at];
  }
  // The tree that the frame's header names; null if it is not here, or the frame has no whole one.
  Tree* find(const engine::Frame& frame) const {
    const auto* header = wire::Cursor(frame.payload).take<wire::PanamaHeader>();
    return header == nullptr ? nullptr : find(header->job.value(), header->tree.value());
  }

  // In the order in which they were installed.
  const std::vector<std::unique_ptr<Tree>>& all() const { return trees_; }

  Tree& add(std::unique_ptr<Tree> tree) {
    trees_.push_back(std::move(tree));
    if (index_.size() > 2 * trees_.size()) {
      enter(*trees_.back());
    } else {
      rebuild();
    }
    return *trees_.back();
  }
  // Takes those away of which `leaves` says so.
  template <typename Leaves>
  void remove_if(Leaves leaves) {
    std::erase_if(trees_, [&leaves](const auto& tree) { return leaves(*tree); });
    rebuild();
  }

 private:
  static std::uint64_t key_of(const Tree& tree) {
    return wire::panama_key(tree.config().job, tree.config().tree);
  }
  void enter(Tree& tree) {
    const auto mask = index_.size() - 1;
    auto at = wire::mix_key(key_of(tree), 0) & mask;
    while (index_[at] != nullptr) {
      at = (at + 1) & mask;
    }
    index_[at] = &tree;
  }
  void rebuild() {
    index_.assign(std::bit_ceil(2 * trees_.size() + 1), nullptr);
    for (const auto& tree : trees_) {
      enter(*tree);
    }
  }

  std::vector<std::unique_ptr<Tree>> trees_;
  std::vector<Tree*> index_{nullptr};  // by hash of the key, open addressing
};

}  // namespace tributary::panama
