// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tributary {

// Says what becomes of a figure when those of all ranks are put together.
enum class Merge : std::uint8_t {
  sum,
  same,   // it is no quantity: all ranks have the same
  least,  // it is no counter, but how things stand: the least is what holds up the others
};

constexpr std::uint64_t merged(Merge how, std::uint64_t known, std::uint64_t other) {
  return how == Merge::sum ? known + other : how == Merge::least ? std::min(known, other) : known;
}

// Something that was counted, or some state, by its name: "blocks_in_network", "window".
struct Figure {
  std::string name;
  std::variant<std::uint64_t, double, std::string> value;
  Merge merge = Merge::sum;
};

// Figures of one thing, each with a name of its own. The names are stable;
// docs/reference/library.md has them.
class Figures {
 public:
  Figures() = default;
  Figures(std::initializer_list<Figure> figures) : figures_(figures) {}
  explicit Figures(std::vector<Figure> figures) : figures_(std::move(figures)) {}

  void add(Figure figure) { figures_.push_back(std::move(figure)); }

  // Returns null if there is no figure of that name.
  const Figure* find(std::string_view name) const {
    const auto found = std::find_if(figures_.begin(), figures_.end(),
                                    [name](const Figure& figure) { return figure.name == name; });
    return found == figures_.end() ? nullptr : &*found;
  }
  // Returns the figure's value if it has that type; otherwise zero or an empty text.
  template <typename T>
  T value(std::string_view name) const {
    const auto* const figure = find(name);
    const T* const value = figure == nullptr ? nullptr : std::get_if<T>(&figure->value);
    return value == nullptr ? T{} : *value;
  }
  // Returns a whole number; 0 if there is none of that name, as where another protocol runs.
  std::uint64_t operator[](std::string_view name) const { return value<std::uint64_t>(name); }

  auto begin() const { return figures_.begin(); }
  auto end() const { return figures_.end(); }
  std::size_t size() const { return figures_.size(); }

 private:
  std::vector<Figure> figures_;
};

// Has what the protocol that carries a communicator's collectives tells about itself.
struct ProtocolStatistics {
  std::string protocol;  // its name; empty for a single rank, which has none
  Figures figures;
  std::vector<Figures> trees;  // one for each tree, where trees were set up beforehand
};

// Has what a communicator tells about itself.
struct CommunicatorStatistics {
  Figures general;
  ProtocolStatistics carried;

  // Finds a figure by its name among the general ones and the protocol's.
  std::uint64_t operator[](std::string_view name) const {
    return general.find(name) != nullptr ? general[name] : carried.figures[name];
  }
};

}  // namespace tributary
