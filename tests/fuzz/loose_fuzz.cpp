// SPDX-License-Identifier: BSD-3-Clause
// One rank of a loose synchronisation, to which the other ranks' words are what the input says.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/loose/rounds.h"
#include "input.h"

namespace {

using namespace tributary::host;
using tributary::fuzz::Input;

constexpr std::uint32_t ranks = 3;
constexpr std::size_t layers = 3;

LooseRule any_rule(Input& input) {
  const auto bits = input.next();
  const auto more = input.next();
  return {(bits & 1) != 0, (bits & 2) != 0,       (bits & 4) != 0,
          more % 4u,       1 + bits / 8 % layers, 1 + more / 4 % 8u};
}

void act(Input& input, Rounds& rounds) {
  if (rounds.is_inside()) {
    const auto layer = input.next() % layers;
    if (!rounds.has_offered(layer)) {
      rounds.offer(layer);
    }
  } else if (input.next() == 'c') {
    rounds.close();
  } else if (rounds.may_enter()) {
    rounds.enter();
  }
}

// Most words are small numbers or a few flags; 255 begins one with bits anywhere.
std::uint64_t any_word(Input& input) {
  const std::uint64_t first = input.next();
  if (first != 255) {
    return first;
  }
  const std::uint64_t bits = input.next();
  return bits << (input.next() % 64u);
}

// False: it has ended.
bool round(Input& input, Rounds& rounds) {
  for (auto& word : rounds.speak(!rounds.is_inside())) {
    word |= any_word(input);
  }
  if (!rounds.hear()) {
    return false;
  }
  for (const auto& sum : rounds.sums()) {
    assert(!sum.contributors.empty() && sum.contributors.count() <= ranks);
  }
  assert(!rounds.giver() || *rounds.giver() < ranks);
  rounds.end();
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const auto rule = any_rule(input);
  Rounds rounds(input.next() % ranks, ranks, layers, rule);
  bool going = true;
  while (going && !input.empty()) {
    for (auto acts = input.next() % 4; acts > 0; --acts) {
      act(input, rounds);
    }
    going = round(input, rounds);
    assert(rounds.awaited().size() < ranks);
  }
  return 0;
}
