// SPDX-License-Identifier: BSD-3-Clause
#include "property/shape.h"

#include <algorithm>
#include <charconv>

namespace tributary::test {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(stream_of(seed, Stream::shape)) {}

  std::uint64_t between(std::uint64_t from, std::uint64_t to) {
    return from + random_() % (to - from + 1);
  }
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  // Every order of magnitude is equally likely.
  std::uint64_t spread(std::uint64_t from, std::uint64_t to) {
    const auto bound = std::max(from, std::min(to, (from + 1) << between(0, 20)));
    return between(from, bound);
  }
  template <typename... Values>
  std::uint64_t any_of(Values... values) {
    const std::uint64_t all[] = {static_cast<std::uint64_t>(values)...};
    return all[random_() % sizeof...(values)];
  }

 private:
  Random random_;
};

void draw_fabric(Shape& shape, Dice& dice) {
  shape.levels = dice.any_of(1, 2, 2, 2, 3);
  shape.bridged = dice.one_in(4) ? 1 : 0;
  if (shape.levels == 1) {
    shape.hosts = dice.between(2, 16);
  } else if (shape.levels == 2) {
    shape.leaves = dice.between(2, 4);
    shape.spines = dice.between(1, 4);
    shape.hosts = dice.between(1, 4);
  } else {
    shape.pods = 2;
    shape.leaves = dice.between(1, 2);
    shape.spines = dice.between(1, 2);
    shape.roots = dice.between(1, 2);
    shape.hosts = dice.between(1, 4);
  }
  shape.ordinary = dice.one_in(4) ? dice.any_of(200, 500, 1000) : 0;
  shape.cores = dice.any_of(1, 1, 2, 3);
  if (dice.one_in(4)) {
    shape.rate_mbit = dice.any_of(50, 200, 1000);
    shape.queue_kib = dice.any_of(2, 16, 1024);
  }
}

void draw_tenants(Shape& shape, Dice& dice) {
  shape.adaptive = dice.one_in(3) ? 1 : 0;
  if (dice.one_in(3)) {
    shape.job_quota = dice.any_of(0, 1, 4);
    shape.port_quota = dice.any_of(0, 1, 4);
    shape.partitions = dice.any_of(0, 0, 1, 2, 3);
  }
}

void draw_selection(Shape& shape, Dice& dice) {
  if (dice.one_in(2)) {
    shape.ordinary_policy = dice.between(0, 2);
    shape.reduction_policy = dice.between(0, 3);
    shape.trees = dice.between(1, 4);
  }
}

void draw_engines(Shape& shape, Dice& dice) {
  shape.descriptors = dice.any_of(1, 2, 4, 16, 16, 64, 256);
  shape.timeout_us = dice.spread(5, 3000);
  shape.root_timeout_us = dice.spread(20, 50'000);
  shape.learn = dice.one_in(3) ? 0 : 1;
  shape.reclaim_ms = dice.any_of(5, 50, 500);
  shape.age_ms = dice.any_of(100, 1000, 5000);
}

void draw_jobs(Shape& shape, Dice& dice) {
  shape.jobs = dice.any_of(1, 1, 1, 2, 3);
  const auto hosts = shape.pods * shape.leaves * shape.hosts;
  shape.crowd = dice.one_in(8) ? 1 : 0;
  shape.world = dice.between(2, shape.crowd != 0 ? 16 : std::min<std::uint64_t>(16, hosts));
  shape.world = std::max<std::uint64_t>(shape.world, 2);
  shape.crowd = shape.world > hosts ? 1 : shape.crowd;
  shape.ethernet = dice.one_in(6) && shape.crowd == 0 && shape.ordinary == 0 ? 1 : 0;
  shape.payload = 32 * dice.spread(1, 40);
  shape.window = dice.any_of(1, 2, 4, 16, 64);
  shape.first_sequence = dice.one_in(3) ? 0x10000000 - dice.between(1, 60) : 0;
  shape.collectives = dice.between(1, 5);
  // The number of blocks is limited so that a trial takes milliseconds.
  const auto blocks = std::max<std::uint64_t>(1, 240 / (shape.world * shape.jobs));
  shape.elements = dice.spread(1, blocks * shape.payload / 4);
  shape.mixed_types = dice.one_in(3) ? 0 : 1;
  shape.mixed_kinds = dice.one_in(3) ? 0 : 1;
  if (dice.one_in(2)) {
    shape.late = dice.any_of(50, 200, 1000);
    shape.late_us = dice.any_of(100, 2'000, 50'000, 600'000);
  }
  shape.attempts = dice.any_of(1, 2, 4, 4, 4, 14);
  shape.retained_kib = dice.any_of(0, 1, 256, 256);
}

void draw_cables(Shape& shape, Dice& dice) {
  if (dice.one_in(5)) {
    return;  // a fabric without faults
  }
  shape.bad_ports = dice.any_of(50, 300, 1000);
  const auto maybe = [&dice](std::uint64_t most) {
    return dice.one_in(2) ? dice.spread(1, most) : 0;
  };
  shape.loss = maybe(1000);
  shape.duplicate = maybe(1000);
  shape.reorder = maybe(1000);
  shape.corrupt = maybe(300);
  shape.delay_us = maybe(2'000);
  shape.jitter_us = maybe(5'000);
  if (dice.one_in(3)) {
    shape.stray = dice.spread(1, 1000);
    shape.stray_ms = dice.any_of(1, 30, 500, 5000);
  }
}

void draw_events(Shape& shape, Dice& dice) {
  shape.event_ms = dice.any_of(1, 10, 100, 1000);
  if (dice.one_in(3)) {
    shape.restarts = dice.between(1, 4);
  }
  if (dice.one_in(4) && shape.levels > 1) {
    shape.flaps = dice.between(1, 4);
    shape.flap_ms = dice.any_of(1, 20, 500);
  }
  if (dice.one_in(16)) {
    shape.deaths = dice.any_of(1, 1, 2);
    shape.deadline_ms = 3000;
  }
  if (dice.one_in(32) && shape.levels > 1) {
    shape.cuts = dice.between(1, 3);
    shape.deadline_ms = 3000;
  }
}

void draw_strangers(Shape& shape, Dice& dice) {
  if (dice.one_in(4)) {
    shape.forged = dice.spread(1, 1000);
  }
}

// PANAMA and Canary may have jobs in the same fabric.
void draw_panama(Shape& shape, Dice& dice) {
  if (dice.one_in(2)) {
    return;
  }
  shape.jobs += shape.jobs == 1 && dice.one_in(2) ? 1 : 0;
  shape.panama = dice.between(1, shape.jobs);
  shape.panama_trees = dice.any_of(1, 1, 2, 4);
  shape.packet_memory = dice.any_of(1, 16, 64, 512, 512);
  shape.congestion_control = dice.any_of(0, 1, 1);
  shape.missing = dice.one_in(4) ? dice.between(1, std::max<std::uint64_t>(1, shape.world / 4)) : 0;
  shape.ecn_packets = dice.any_of(0, 2, 10, 85);
}

// NetReduce's jobs run beside those of the other engines, or alone.
void draw_netreduce(Shape& shape, Dice& dice) {
  if (!dice.one_in(3)) {
    return;
  }
  const auto canary = dice.one_in(2) ? shape.jobs - shape.panama : 0;
  shape.netreduce = dice.any_of(1, 1, 2);
  shape.jobs = shape.panama + shape.netreduce + canary;
  shape.runs = dice.any_of(1, 1, 2, 3);
  shape.ring_window = dice.any_of(1, 2, 2, 4);
  shape.message_packets = dice.any_of(1, 2, 4, 7);
  shape.mtu = dice.any_of(256, 256, 512, 1024);
}

// Flare's jobs run beside those of the other engines, or without Canary's.
void draw_flare(Shape& shape, Dice& dice) {
  if (!dice.one_in(3)) {
    return;
  }
  const auto others = shape.panama + shape.netreduce;
  const auto canary = dice.one_in(2) ? shape.jobs - others : 0;
  shape.flare = dice.any_of(1, 1, 2);
  shape.jobs = others + shape.flare + canary;
  shape.flare_window = dice.any_of(1, 1, 2, 3, 5, 8, 16, 33, 64);
  shape.reproducible = dice.one_in(2) ? 1 : 0;
  shape.runs = shape.netreduce != 0 ? shape.runs : dice.any_of(1, 1, 2, 3);
}

// Outages may be longer than switches keep results for ranks that lost them.
void draw_outages(Shape& shape, Dice& dice) {
  if (dice.one_in(4)) {
    shape.outages = dice.between(1, 4);
  }
  if (dice.one_in(6)) {
    shape.suspended = dice.between(1, 2);
  }
  if (shape.outages + shape.suspended != 0) {
    shape.outage_ms = dice.any_of(100, 3000, 13'000, 60'000);
  }
}

// Windows yield to marks, and sums do not change.
void draw_marks(Shape& shape, Dice& dice) {
  if (dice.one_in(2)) {
    shape.marked = dice.any_of(1, 30, 1000, 10'000);
  }
  if (shape.panama == 0) {
    shape.ecn_packets = dice.any_of(0, 2, 10, 85);
  }
}

// Cables between bridges must not make a loop.
void draw_link(Shape& shape, Dice& dice) {
  if (shape.bridged != 0) {
    shape.vlan = dice.any_of(0, 10, 4094);
  }
  shape.ipv6 = dice.one_in(4) ? 1 : 0;
  if (shape.ipv6 != 0 && shape.corrupt != 0) {
    // Nothing protects the header. A packet with a damaged address may go in circles as long as its
    // hop limit lets it, and must not become more on each of these cables.
    shape.duplicate = shape.stray = 0;
  }
  if (shape.vlan == 0) {
    return;
  }
  shape.tagged = dice.any_of(0, 1);
  if (shape.levels > 1 && dice.one_in(2)) {
    shape.trunks = 1;
    shape.spines = shape.roots = 1;
  }
}

// Once in a while a job has a thousand ranks, as far as its engines allow that: a ring has at most
// 64. It is short, and its cables lose no more than so many ranks can bear in seconds.
void draw_multitude(Shape& shape, Dice& dice) {
  if (!dice.one_in(1500) || shape.netreduce != 0) {
    return;
  }
  shape.levels = 3;
  shape.pods = shape.leaves = 4;
  shape.spines = shape.roots = shape.trunks != 0 ? 1 : 2;
  shape.hosts = 63;
  shape.crowd = 0;
  shape.world = dice.between(900, 1008);
  shape.jobs = std::max<std::uint64_t>(shape.panama + shape.flare, 1);
  shape.collectives = 2;
  shape.elements = dice.between(1, shape.payload / 2);
  shape.loss = std::min<std::uint64_t>(shape.loss, 20);
  // Copies of so many packets that wait for seconds would take all that the fabric has.
  shape.stray_ms = std::min<std::uint64_t>(shape.stray_ms, 30);
}

}  // namespace

Shape random_shape(std::uint64_t seed) {
  Dice dice(seed);
  Shape shape;
  shape.seed = seed;
  draw_fabric(shape, dice);
  draw_engines(shape, dice);
  draw_jobs(shape, dice);
  draw_cables(shape, dice);
  draw_events(shape, dice);
  draw_selection(shape, dice);
  draw_tenants(shape, dice);
  draw_strangers(shape, dice);
  draw_panama(shape, dice);
  draw_netreduce(shape, dice);
  draw_outages(shape, dice);
  draw_flare(shape, dice);
  shape.handlers = dice.one_in(3) ? 1 : 0;
  if (shape.flare != 0 && shape.reproducible == 0) {
    shape.sparse_window = dice.any_of(0, 1, 2, 5, 16);
  }
  draw_marks(shape, dice);
  if (shape.flare != 0 && shape.cores > 1 && shape.loss != 0) {
    shape.ring_loss = dice.any_of(0, 100, 2000);
  }
  shape.classes = dice.one_in(4) ? 1 : 0;
  draw_link(shape, dice);
  draw_multitude(shape, dice);
  return shape;
}

std::string to_text(const Shape& shape) {
  std::string text;
#define TRIBUTARY_WRITE(name, harmless)                                                      \
  if (shape.name != (harmless)) {                                                            \
    text += (text.empty() ? "" : " ") + std::string(#name "=") + std::to_string(shape.name); \
  }
  TRIBUTARY_SHAPE(TRIBUTARY_WRITE)
#undef TRIBUTARY_WRITE
  return text;
}

std::optional<Shape> shape_of(std::string_view text) {
  Shape shape;
  while (!text.empty()) {
    const auto space = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word.empty()) {
      continue;
    }
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto digits = word.substr(equals + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      return std::nullopt;
    }
    const auto name = word.substr(0, equals);
    bool known = false;
#define TRIBUTARY_READ(field, harmless) \
  if (name == #field) {                 \
    shape.field = value;                \
    known = true;                       \
  }
    TRIBUTARY_SHAPE(TRIBUTARY_READ)
#undef TRIBUTARY_READ
    if (!known) {
      return std::nullopt;
    }
  }
  return shape;
}

}  // namespace tributary::test
