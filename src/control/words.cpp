// SPDX-License-Identifier: BSD-3-Clause
#include "control/words.h"

#include <algorithm>
#include <numeric>

namespace tributary::control {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string_view>& words) {
  constexpr std::size_t word_bytes_max = 64;  // the distance takes the product of both lengths
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : words) {
    if (word.size() > word_bytes_max || candidate.size() > word_bytes_max) {
      continue;
    }
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return std::string(best);
}

std::string joined(const std::vector<std::string_view>& words) {
  constexpr std::size_t text_bytes_max = 200;
  std::string text;
  for (const std::string_view word : words) {
    text += (text.empty() ? "" : ", ") + std::string(word);
    if (text.size() > text_bytes_max) {
      return text + ", ...";
    }
  }
  return text;
}

}  // namespace tributary::control
