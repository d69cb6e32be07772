// SPDX-License-Identifier: BSD-3-Clause
// Runs random jobs over several interfaces, one per seed, in virtual time. There must never be a
// wrong sum or a hang, and errors must name the rank that failed. See docs/testing.md.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/cube_world.h"

namespace tributary::host::test {
namespace {

using Random = std::mt19937_64;
using Milliseconds = std::int64_t;

constexpr Milliseconds nobody_knows = std::numeric_limits<Milliseconds>::max();
// These are the library's time limits: until a lost carrier, a lost path and a lack of progress are
// noticed, and for a rank that knows the cause to say so.
constexpr Milliseconds look_ms = 100;
constexpr Milliseconds silence_ms = 5000;
constexpr Milliseconds stall_ms = 30000;
constexpr Milliseconds retransmission_ms = 200;

// What fails in mid-run.
enum class Fault { none, interface, rank, way };

struct Shape {
  explicit Shape(std::uint64_t seed) {
    Random random(seed);
    const auto draw = [&](std::uint64_t least, std::uint64_t most) {
      return least + random() % (most - least + 1);
    };
    kind = draw(0, 2) == 0 ? CubeLayout::Kind::mesh : CubeLayout::Kind::bcube;
    interfaces = static_cast<std::uint32_t>(draw(1, kind == CubeLayout::Kind::mesh ? 4 : 3));
    const auto alpha = draw(2, interfaces == 1 ? 9 : interfaces == 2 ? 5 : 3);
    ranks = static_cast<std::uint32_t>(alpha);
    for (std::uint32_t i = 1; i < interfaces && kind == CubeLayout::Kind::bcube; ++i) {
      ranks *= static_cast<std::uint32_t>(alpha);
    }
    calls = draw(1, 4);
    grain = draw(0, 3) == 0 ? draw(2, 40) : 1;
    piece_bytes = draw(0, 1) == 0 ? draw(1, 100) : draw(100, 9000);
    loss_percent = draw(0, 2) == 0 ? draw(1, 10) : 0;
    late_ms = draw(0, 1) == 0 ? draw(1, 3000) : 0;
    fault = static_cast<Fault>(draw(0, 5) < 3 ? 0 : draw(1, 3));
    fault_at = static_cast<Milliseconds>(draw(0, 1) == 0 ? draw(0, 20) : draw(0, 2000 + late_ms));
    culprit = draw(0, ranks - 1);
    fault_choice = random();
    data_seed = random();
  }

  CubeLayout::Kind kind;
  std::uint32_t interfaces;
  std::uint32_t ranks;
  std::uint64_t calls;
  std::size_t grain;
  std::uint64_t piece_bytes;
  std::uint64_t loss_percent;
  std::uint64_t late_ms;
  Fault fault;
  Milliseconds fault_at;
  std::size_t culprit;
  std::uint64_t fault_choice;
  std::uint64_t data_seed;
};

// One call of all ranks: their inputs, and the expected result, computed by a loop.
struct Sum {
  static constexpr std::size_t guard = 8;  // elements around each result that must not change
  static constexpr std::int32_t untouched = 0x5a5a5a5a;

  Sum(const Shape& shape, Random& random) {
    constexpr std::size_t lengths[] = {1, 7, 64, 500, 3000};
    const auto count = 1 + random() % lengths[random() % std::size(lengths)];
    in_place = random() % 2 == 0;
    op = random() % 3 == 0 ? wire::Operator::max : wire::Operator::sum;
    expected.assign(count,
                    op == wire::Operator::max ? std::numeric_limits<std::int32_t>::min() : 0);
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      auto& own = in.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) {
        own[i] = static_cast<std::int32_t>(random() % 2000001) - 1000000;
        expected[i] =
            op == wire::Operator::max ? std::max(expected[i], own[i]) : expected[i] + own[i];
      }
      auto& result = out.emplace_back(count + 2 * guard, untouched);
      if (in_place) {
        std::copy(own.begin(), own.end(), result.begin() + guard);
      }
    }
    given = in;
  }

  Buffers buffers(std::size_t rank) {
    auto* const to = reinterpret_cast<std::byte*>(out[rank].data() + guard);
    const auto* const from = in_place ? to : reinterpret_cast<const std::byte*>(in[rank].data());
    return {from, to, expected.size(), wire::ElementType::i32, op};
  }
  bool is_right(std::size_t rank) const {
    return std::equal(expected.begin(), expected.end(), out[rank].begin() + guard);
  }
  bool is_intact(std::size_t rank) const {
    const auto is_untouched = [](std::int32_t one) { return one == untouched; };
    return in[rank] == given[rank] &&
           std::all_of(out[rank].begin(), out[rank].begin() + guard, is_untouched) &&
           std::all_of(out[rank].end() - guard, out[rank].end(), is_untouched);
  }

  bool in_place;
  wire::Operator op;
  std::vector<std::vector<std::int32_t>> in;
  std::vector<std::vector<std::int32_t>> given;
  std::vector<std::vector<std::int32_t>> out;
  std::vector<std::int32_t> expected;
};

class Trial {
 public:
  explicit Trial(std::uint64_t seed)
      : shape_(seed),
        random_(shape_.data_seed),
        world_(shape_.kind, shape_.ranks, shape_.interfaces),
        ranks_(shape_.ranks) {
    for (std::uint64_t call = 0; call < shape_.calls; ++call) {
      sums_.emplace_back(shape_, random_);
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].begins_at = lateness();
      ranks_[rank].stalled_until.assign(world_.streams(rank), 0);
      ranks_[rank].gone_at.assign(world_.streams(rank), nobody_knows);
    }
  }

  // Returns what does not hold, or an empty text.
  std::string run() {
    constexpr int ticks_max = 2'000'000;
    for (int tick = 0; tick < ticks_max && fault_.empty(); ++tick) {
      break_something();
      bool moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        moved |= step(rank);
      }
      if (std::ranges::all_of(ranks_, &Rank::over)) {
        return judge();
      }
      now_ = moved ? now_ + 1 : std::max(next_event(), now_ + 1);
    }
    return fault_.empty() ? "no end" : fault_;
  }
  bool has_failed() const {
    return std::ranges::any_of(ranks_, [](const Rank& rank) { return rank.has_failed; });
  }

 private:
  struct Rank {
    std::uint64_t call = 0;  // that it is in, or that is next
    bool in_call = false;
    bool over = false;
    bool is_dead = false;
    bool has_failed = false;
    Milliseconds begins_at = 0;
    Milliseconds progressed = 0;
    Milliseconds carrier_lost_at = nobody_knows;
    std::vector<Milliseconds> stalled_until;  // by stream
    std::vector<Milliseconds> gone_at;        // by stream, when the path to the neighbour fails
  };

  Milliseconds lateness() {
    return now_ + static_cast<Milliseconds>(
                      shape_.late_ms == 0 || random_() % 3 != 0 ? 0 : random_() % shape_.late_ms);
  }

  void break_something() {
    if (shape_.fault == Fault::none || is_broken_ || now_ < shape_.fault_at) {
      return;
    }
    is_broken_ = true;
    auto& culprit = ranks_[shape_.culprit];
    if (shape_.fault == Fault::way) {
      const auto stream = shape_.fault_choice % world_.streams(shape_.culprit);
      lose(shape_.culprit, stream);
      world_.cut_stream(shape_.culprit, stream);
      return;
    }
    if (shape_.fault == Fault::interface) {
      const auto interface = static_cast<std::uint32_t>(shape_.fault_choice % shape_.interfaces);
      culprit.carrier_lost_at = now_;
      for (std::size_t stream = 0; stream < world_.streams(shape_.culprit); ++stream) {
        if (world_.neighbour(shape_.culprit, stream).interface == interface) {
          lose(shape_.culprit, stream);
        }
      }
      world_.cut(shape_.culprit, interface);
      return;
    }
    culprit.is_dead = culprit.over = true;
    for (std::size_t stream = 0; stream < world_.streams(shape_.culprit); ++stream) {
      lose(shape_.culprit, stream);
      world_.cut_stream(shape_.culprit, stream);
    }
  }

  // The two ends of a stream lose the path to each other.
  void lose(std::size_t rank, std::size_t stream) {
    ranks_[rank].gone_at[stream] = now_;
    const auto& [interface, peer, place] = world_.neighbour(rank, stream);
    other_end_ = peer;
    for (std::size_t back = 0; back < world_.streams(peer); ++back) {
      const auto& there = world_.neighbour(peer, back);
      if (there.rank == rank && there.interface == interface) {
        ranks_[peer].gone_at[back] = now_;
      }
    }
  }

  bool step(std::size_t number) {
    auto& rank = ranks_[number];
    if (rank.over) {
      return false;
    }
    if (!rank.in_call) {
      if (now_ < rank.begins_at) {
        return false;
      }
      world_.begin(number, sums_[rank.call].buffers(number), shape_.grain);
      rank.in_call = true;
      rank.progressed = now_;
    }
    bool moved = false;
    for (std::size_t stream = 0; stream < world_.streams(number); ++stream) {
      moved |= move(number, stream);
    }
    if (moved) {
      rank.progressed = now_;
    }
    look(number);
    if (world_.failure(number)) {
      rank.over = rank.has_failed = true;
    } else if (world_.finished(number)) {
      end_call(number);
    }
    return moved;
  }

  // Lost bytes are sent again, and all bytes behind them wait for that.
  bool move(std::size_t number, std::size_t stream) {
    auto& stalled_until = ranks_[number].stalled_until[stream];
    if (now_ < stalled_until) {
      return false;
    }
    if (random_() % 100 < shape_.loss_percent) {
      stalled_until = now_ + retransmission_ms;
      return false;
    }
    const auto most = [&] { return static_cast<std::size_t>(1 + random_() % shape_.piece_bytes); };
    const auto sent = world_.send(number, stream, most());
    const auto received = world_.receive(number, stream, most());
    return sent + received != 0;
  }

  // Checks interfaces and acknowledgements, as a rank on sockets does.
  void look(std::size_t number) {
    auto& rank = ranks_[number];
    if (rank.carrier_lost_at != nobody_knows && now_ >= rank.carrier_lost_at + look_ms) {
      world_.fail(number, {Error::Code::network, rank_text(static_cast<std::uint32_t>(number)) +
                                                     " over ethX: no carrier"});
      return;
    }
    for (std::size_t stream = 0; stream < rank.gone_at.size(); ++stream) {
      const auto gone = rank.gone_at[stream];
      if (gone != nobody_knows && now_ >= gone + silence_ms) {
        world_.fail(number, {Error::Code::network,
                             rank_text(static_cast<std::uint32_t>(number)) +
                                 " over ethX: " + rank_text(world_.neighbour(number, stream).rank) +
                                 " has not answered"});
        return;
      }
    }
    if (now_ >= rank.progressed + stall_ms) {
      world_.fail(number, {Error::Code::timeout, "no progress"});
    }
  }

  void end_call(std::size_t number) {
    auto& rank = ranks_[number];
    if (!sums_[rank.call].is_right(number)) {
      fault_ = "a wrong sum at rank " + std::to_string(number);
    }
    rank.in_call = false;
    rank.begins_at = lateness();
    rank.over = ++rank.call == shape_.calls;
  }

  Milliseconds next_event() const {
    auto next = shape_.fault == Fault::none || is_broken_ ? nobody_knows : shape_.fault_at;
    const auto take = [&](Milliseconds when) {
      if (when > now_) {
        next = std::min(next, when);
      }
    };
    for (const auto& rank : ranks_) {
      if (rank.over) {
        continue;
      }
      take(rank.in_call ? rank.progressed + stall_ms : rank.begins_at);
      if (rank.carrier_lost_at != nobody_knows) {
        take(rank.carrier_lost_at + look_ms);
      }
      for (std::size_t stream = 0; stream < rank.gone_at.size(); ++stream) {
        take(rank.stalled_until[stream]);
        if (rank.gone_at[stream] != nobody_knows) {
          take(rank.gone_at[stream] + silence_ms);
        }
      }
    }
    return next == nobody_knows ? now_ + 1 : next;
  }

  std::string judge() {
    const auto named = [&](std::size_t rank) {
      return rank_text(static_cast<std::uint32_t>(rank)) + " ";
    };
    for (std::size_t number = 0; number < ranks_.size() && fault_.empty(); ++number) {
      for (const auto& sum : sums_) {
        if (!sum.is_intact(number)) {
          return "something beside the result was touched at rank " + std::to_string(number);
        }
      }
      const auto& failure = world_.failure(number);
      if (!failure) {
        continue;
      }
      if (!is_broken_) {
        return "rank " + std::to_string(number) + " failed for nothing: " + failure->message;
      }
      // Where the last bytes of a finished rank were lost, no rank is left to notice it.
      const bool noticed =
          shape_.fault == Fault::interface && world_.failure(shape_.culprit).has_value();
      if (failure->code == Error::Code::timeout && noticed) {
        return "rank " + std::to_string(number) + " has not heard why";
      }
      const auto text = failure->message + " ";
      if (failure->code != Error::Code::timeout && text.find(named(shape_.culprit)) == text.npos &&
          text.find(named(other_end_)) == text.npos) {
        return "rank " + std::to_string(number) + " names somebody else: " + failure->message;
      }
    }
    return fault_;
  }

  Shape shape_;
  Random random_;
  CubeWorld world_;
  std::vector<Rank> ranks_;
  std::vector<Sum> sums_;
  Milliseconds now_ = 0;
  bool is_broken_ = false;
  std::size_t other_end_ = 0;  // of the way that is gone
  std::string fault_;
};

int run(std::uint64_t first, std::uint64_t last) {
  std::uint64_t faults = 0;
  std::uint64_t broken = 0;
  for (auto seed = first; seed <= last; ++seed) {
    Trial trial(seed);
    const auto fault = trial.run();
    broken += trial.has_failed() ? 1 : 0;
    if (!fault.empty()) {
      std::cerr << "FAILED seed " << seed << ": " << fault << "\n";
      ++faults;
    }
  }
  std::cout << last - first + 1 << " jobs, in " << broken
            << " of them ranks failed as they have to, " << faults << " are wrong\n";
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tributary::host::test

int main(int argc, char** argv) {
  CLI::App app("Random jobs over several interfaces");
  std::uint64_t first = 1;
  std::uint64_t last = 2000;
  app.add_option("--first", first, "seed")->capture_default_str();
  app.add_option("--last", last, "seed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return tributary::host::test::run(first, last);
}
