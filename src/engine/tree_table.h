// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "wire/key.h"

namespace tributary::engine {

// A TreeTable has the trees that are installed, each once, and finds them by Tree::key().
template <typename Tree>
class TreeTable {
 public:
  // Returns null if the tree is not here.
  Tree* find(std::uint64_t key) const {
    const auto mask = index_.size() - 1;
    auto at = wire::mix_key(key, 0) & mask;
    while (index_[at] != nullptr && index_[at]->key() != key) {
      at = (at + 1) & mask;
    }
    return index_[at];
  }

  // The trees stand in the order in which they were installed.
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
  // Makes the table have the trees that are wanted, and no others: those that go are handed to
  // `remove`, those that come are installed by `install`.
  template <typename Config, typename Install, typename Remove>
  void become(const std::vector<Config>& wanted, Install install, Remove remove) {
    remove_if([&](Tree& tree) {
      const bool stays = std::find(wanted.begin(), wanted.end(), tree.config()) != wanted.end();
      if (!stays) {
        remove(tree);
      }
      return !stays;
    });
    for (const auto& config : wanted) {
      const auto is_it = [&config](const auto& tree) { return tree->config() == config; };
      if (std::none_of(trees_.begin(), trees_.end(), is_it)) {
        install(config);
      }
    }
  }
  // Takes those trees away for which `leaves` returns true.
  template <typename Leaves>
  void remove_if(Leaves leaves) {
    std::erase_if(trees_, [&leaves](const auto& tree) { return leaves(*tree); });
    rebuild();
  }

 private:
  void enter(Tree& tree) {
    const auto mask = index_.size() - 1;
    auto at = wire::mix_key(tree.key(), 0) & mask;
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

}  // namespace tributary::engine
