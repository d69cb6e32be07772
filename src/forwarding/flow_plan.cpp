// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_plan.h"

#include <algorithm>

#include "forwarding/traffic_class.h"
#include "wire/pause.h"

namespace tributary::forwarding {
namespace {

constexpr std::uint64_t burst_frames = 32;
constexpr std::uint64_t network_control_bytes = 2048;  // goes first, even without room
// A neighbour that does not hear from us again is silent for so long: a core that is kept from its
// CPU cannot ask, and has its device overrun. If a frame that ends the silence is lost, it costs as
// much.
constexpr std::chrono::milliseconds silence_wanted{250};
// If a frame that asks for silence is lost, it costs so much.
constexpr std::chrono::milliseconds again_wanted{10};

std::uint64_t headroom_of(const PortConfig& port) {
  const auto microseconds =
      std::chrono::duration_cast<std::chrono::microseconds>(port.flow.reaction).count();
  const auto on_the_way =
      line_rate(port) / 8 * static_cast<std::uint64_t>(microseconds) / 1'000'000;
  return std::max(on_the_way + 2 * std::uint64_t{frame_bytes_max(port)},
                  burst_frames * frame_bytes_max(port));
}

// Says whether all that comes by this port is held back before it is lost. Classes that are not
// lossless have room of their own.
bool is_lossless_throughout(const PortConfig& port) {
  return port.flow.mode == FlowControl::pause ||
         (port.flow.mode == FlowControl::pfc &&
          (port.flow.lossless.is_unspecified() || !port.queue.classes.empty()));
}

// Returns the part of the port's queue that is for what flow control guards, and for what else is
// in the same classes.
std::uint64_t room_of(const PortConfig& port) {
  const auto& queue = port.queue;
  return queue.classes.empty() ? queue.capacity_bytes
                               : lossless_capacity(queue.classes, queue.capacity_bytes);
}

Priorities lossless_of(const PortConfig& port) {
  if (port.queue.classes.empty()) {
    return port.flow.lossless;
  }
  Priorities lossless{0};
  for (const auto& one : port.queue.classes) {
    if (one.pfc_priority) {
      lossless.bits = static_cast<std::uint8_t>(lossless.bits | 1u << *one.pfc_priority);
    }
  }
  return lossless;
}

// A lower threshold would not be worth the name.
std::uint64_t xoff_min(const PortConfig& port) {
  return 2 * std::uint64_t{frame_bytes_max(port)};
}

void set_silence(BufferLimits& limits, std::uint64_t rate) {
  const auto wanted = rate / 1000 * silence_wanted.count() / wire::pause_quantum_bits;
  limits.quanta = static_cast<std::uint16_t>(std::clamp<std::uint64_t>(wanted, 1, 0xffff));
  limits.again = std::min<Duration>(again_wanted, pause_time(limits.quanta, rate) / 2);
}

BufferLimits limits_of(const PortConfig& port, std::uint64_t share) {
  BufferLimits limits;
  limits.mode = port.flow.mode;
  if (limits.mode == FlowControl::off) {
    return limits;
  }
  if (limits.mode == FlowControl::pfc) {
    limits.classes = lossless_of(port);
  }
  const auto headroom = headroom_of(port);
  const auto least = xoff_min(port);
  const auto room = share > headroom ? share - headroom : 0;
  limits.headroom = headroom;
  limits.xoff = port.flow.xoff_bytes > 0 ? port.flow.xoff_bytes : room;
  limits.lossless = limits.xoff >= least && limits.xoff <= room;
  if (!limits.lossless) {
    limits.xoff = std::max({least, share / 2, std::uint64_t{port.flow.xoff_bytes}});
  }
  limits.xon =
      std::min(port.flow.xon_bytes > 0 ? port.flow.xon_bytes : limits.xoff / 2, limits.xoff - 1);
  // A class that is full, its headroom included, leaves half of the share to the others.
  limits.class_xoff =
      std::min(limits.xoff, std::max(least, share / 2 - std::min(share / 2, headroom)));
  limits.class_xon = std::min(limits.xon, limits.class_xoff / 2);
  limits.frame_bytes = frame_bytes_max(port);
  limits.full = std::max(share, limits.xoff + limits.frame_bytes);
  set_silence(limits, line_rate(port));
  return limits;
}

}  // namespace

std::uint64_t known_rate(const PortConfig& port) {
  return port.queue.rate_bps > 0 ? port.queue.rate_bps : port.line_bps;
}

std::uint64_t line_rate(const PortConfig& port) {
  const auto known = known_rate(port);
  return known > 0 ? known : line_rate_usual;
}

FlowPlan plan_flow_control(std::span<const PortConfig> ports) {
  std::uint64_t capacity = UINT64_MAX;
  std::uint64_t guarded = 0;
  std::uint64_t share_needed = 0;
  for (const auto& port : ports) {
    capacity = std::min(capacity, room_of(port));
    if (port.flow.mode != FlowControl::off) {
      ++guarded;
      const auto xoff = std::max<std::uint64_t>(xoff_min(port), port.flow.xoff_bytes);
      share_needed = std::max(share_needed, xoff + headroom_of(port));
    }
  }
  FlowPlan plan;
  if (guarded == 0) {
    return plan;
  }
  // So many parts of eight of each queue are for what flow control guards.
  const bool all = std::all_of(ports.begin(), ports.end(), is_lossless_throughout);
  const std::uint64_t parts = all ? 7 : 4;
  const auto usable = capacity - std::min(capacity, network_control_bytes);
  const auto share = usable * parts / 8 / guarded;
  plan.priorities = priorities_of(ports.front().queue.classes);
  plan.others_bytes = usable - share * guarded;
  plan.capacity_needed = (share_needed * guarded + 1) * 8 / parts + network_control_bytes + 8;
  for (const auto& port : ports) {
    plan.ports.push_back(limits_of(port, share));
    plan.by_class |= port.flow.mode == FlowControl::pfc;
  }
  return plan;
}

}  // namespace tributary::forwarding
