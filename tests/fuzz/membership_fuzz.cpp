// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <sodium/core.h>

#include "host/membership/roster.h"
#include "host/membership/words.h"
#include "wire/cursor.h"

// What may happen to a keeper, in any order, and what a stranger in its place may say.
namespace {

using namespace tributary;
using namespace tributary::host;

MemberHello hello_of(bool joins, std::uint8_t how) {
  MemberHello hello;
  hello.joins = joins ? 1 : 0;
  hello.options.rank = how % 4;
  hello.options.world_size = 1 + how / 4 % 4;
  hello.options.job = how >= 240 ? 1 : 0;
  return hello;
}

// A roster, and what those who have come know of it.
class World {
 public:
  void act(std::uint8_t what, std::uint8_t how) {
    const Roster::Id id = how % 8 + (what >= 128 ? next_ - std::min<Roster::Id>(next_, 8) : 0);
    switch (what % 6) {
      case 0:
      case 1:
        known_.insert(next_);
        roster_.come(next_++, hello_of(what % 6 == 0, how), "a");
        break;
      case 2:
        hear(id, {WordKind::regroup,
                  body_of(RegroupWish{wire::be64{how >= 250 ? 0 : epoch_}, wire::be32{how / 32u},
                                      wire::be32{how * 4u}})});
        break;
      case 3:
        hear(id, {WordKind::share, std::vector<std::byte>(how % 16, std::byte{1})});
        break;
      case 4:
        leave(id);
        break;
      default:
        now_ += std::chrono::milliseconds(how * 8);
        roster_.expire(now_);
    }
    look();
  }

 private:
  void hear(Roster::Id id, const Word& word) {
    if (known_.contains(id) && !roster_.hear(id, word, now_)) {
      leave(id);
    }
  }
  void leave(Roster::Id id) {
    if (known_.erase(id) != 0) {
      members_.erase(id);
      roster_.leave(id, now_);
    }
  }
  // Of one membership all have different ranks of the same world, and rank 0 is none who is new
  // where somebody was there before.
  void look() {
    for (auto told = roster_.take(); !told.empty(); told = roster_.take()) {
      std::set<std::uint32_t> ranks;
      const auto before = members_;
      for (const auto& [to, word] : told) {
        if (word.kind == WordKind::place) {
          const auto& place = *wire::Cursor(word.body).take<MembershipPlace>();
          assert(known_.contains(to));
          assert(place.epoch.value() > epoch_ || !ranks.empty());
          ranks = place.epoch.value() > epoch_ ? std::set<std::uint32_t>() : ranks;
          epoch_ = place.epoch.value();
          assert(ranks.insert(place.rank.value()).second);
          assert(place.rank.value() < place.world_size.value());
          size_ = place.world_size.value();
          assert(place.rank.value() != 0 || before.empty() || before.contains(to));
          members_.insert(to);
        }
      }
      assert(ranks.empty() || ranks.size() == size_);
      for (const auto& [to, word] : told) {
        if (word.kind == WordKind::dismissed) {
          leave(to);
        }
      }
    }
  }

  Roster roster_;
  Roster::Id next_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint32_t size_ = 0;
  Time now_{std::chrono::seconds(1)};
  std::set<Roster::Id> known_;
  std::set<Roster::Id> members_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (::sodium_init() < 0) {
    return 0;
  }
  World world;
  for (std::size_t i = 0; i + 1 < size; i += 2) {
    world.act(data[i], data[i + 1]);
  }
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const auto end : {WordStream::End::keeper, WordStream::End::member}) {
    WordStream stream(Secret(""), {}, end);
    stream.feed(bytes);
    auto next = stream.next();
    while (next && *next) {
      next = stream.next();
    }
  }
  return 0;
}
