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

// What becomes of a figure when those of all ranks are taken together.
enum class Merge : std::uint8_t {
  sum,
  same,  // all have the same: it is no quantity
};

// Something that was counted, or how it stands, by its name: "blocks_in_network", "window".
struct Figure {
  std::string name;
  std::variant<std::uint64_t, double, std::string> value;
  Merge merge = Merge::sum;
};

// Figures of one thing, each name once. The names are stable; docs/reference/library.md has them.
class Figures {
 public:
  Figures() = default;
  Figures(std::initializer_list<Figure> figures) : figures_(figures) {}
  explicit Figures(std::vector<Figure> figures) : figures_(std::move(figures)) {}

  void add(Figure figure) { figures_.push_back(std::move(figure)); }

  // Null if there is none of that name.
  const Figure* find(std::string_view name) const {
    const auto found = std::find_if(figures_.begin(), figures_.end(),
                                    [name](const Figure& figure) { return figure.name == name; });
    return found == figures_.end() ? nullptr : &*found;
  }
  // Its value, if it has one of that type; otherwise nothing: zero, no text.
  template <typename T>
  T value(std::string_view name) const {
    const auto* const figure = find(name);
    const T* const value = figure == nullptr ? nullptr : std::get_if<T>(&figure->value);
    return value == nullptr ? T{} : *value;
  }
  // A whole number; 0 if there is none of that name, as where another protocol runs.
  std::uint64_t operator[](std::string_view name) const { return value<std::uint64_t>(name); }

  auto begin() const { return figures_.begin(); }
  auto end() const { return figures_.end(); }
  std::size_t size() const { return figures_.size(); }

 private:
  std::vector<Figure> figures_;
};

// What the protocol that carries a communicator's collectives tells of itself.
struct ProtocolStatistics {
  std::string protocol;  // its name; empty: there is none, for a single rank
  Figures figures;
  std::vector<Figures> trees;  // of each, where trees were set up beforehand
};

// What a communicator tells of itself.
struct CommunicatorStatistics {
  Figures general;
  ProtocolStatistics carried;

  // As of the figures, general ones and the protocol's.
  std::uint64_t operator[](std::string_view name) const {
    return general.find(name) != nullptr ? general[name] : carried.figures[name];
  }
};

}  // namespace tributary
