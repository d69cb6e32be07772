// SPDX-License-Identifier: BSD-3-Clause
// One rank of a queue of named collectives, to which the other ranks' words are what the input
// says.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/queue/ordering.h"
#include "input.h"

namespace {

using namespace tributary;
using namespace tributary::host;
using fuzz::Input;

constexpr std::uint32_t ranks = 3;

template <typename Word>
void scribble(Input& input, std::span<Word> words) {
  for (auto& word : words) {
    if (input.empty()) {
      return;
    }
    word = static_cast<Word>(input.next());
  }
}

void post(Input& input, Ordering& ordering, Time now) {
  const auto kind = input.next();
  Call call;
  call.collective = static_cast<Collective>(kind % 4);
  call.buffers.count = kind / 4;
  (void)ordering.post(std::string(1, static_cast<char>('a' + input.next() % 8)), call, now);
}

// False: the queue has ended.
bool cycle(Input& input, Ordering& ordering, Time now) {
  scribble(input, ordering.vote(now));
  if (!ordering.count(now)) {
    return false;
  }
  scribble(input, ordering.census());
  ordering.settle();
  std::vector<std::size_t> places;
  while (places.size() < ordering.ready().size()) {
    places.push_back(places.size());
  }
  ordering.run_begins(now);
  ordering.run_ended(places, now);
  if (ordering.announcer()) {
    scribble(input, ordering.announcement());
    return ordering.adopt().has_value();
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const auto limits = Ordering::Limits{std::chrono::seconds(1), std::chrono::seconds(3)};
  Time now{};
  Ordering ordering(input.next() % ranks, ranks, limits, now);
  bool going = true;
  while (going && !input.empty()) {
    now += std::chrono::milliseconds(10 * input.next());
    for (auto postings = input.next() % 4; postings > 0; --postings) {
      post(input, ordering, now);
    }
    going = cycle(input, ordering, now);
    assert(ordering.next() >= Time{});
    ordering.take_outcomes();
    ordering.take_warnings();
  }
  ordering.abandon(Error{});
  return 0;
}
