// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/schedule.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/reduce_into.h"

namespace tributary::host {
namespace {

// Fewer bytes are not worth an addition, unless they are the last.
constexpr std::size_t worthwhile_bytes = 16384;

}  // namespace

void CubeSchedule::Stream::add(Piece next) {
  if (next.bytes != 0) {
    next.start = total;
    total += next.bytes;
    pieces.push_back(next);
  }
}

void CubeSchedule::Stream::move(std::size_t bytes) {
  moved += bytes;
  while (piece < pieces.size() && moved >= pieces[piece].start + pieces[piece].bytes) {
    ++piece;
  }
}

wire::MutableBytes CubeSchedule::Stream::rest() const {
  const auto& now = pieces[piece];
  const auto skipped = static_cast<std::size_t>(moved - now.start);
  return {now.at + skipped, now.bytes - skipped};
}

CubeSchedule::CubeSchedule(const Buffers& buffers, const CubeLayout& layout, std::size_t grain)
    : buffers_(buffers),
      kernel_(reduce::kernel(buffers.type, buffers.op)),
      element_bytes_(wire::element_bytes(buffers.type)),
      grain_(grain),
      neighbours_(layout.neighbours()),
      parts_(layout.interfaces()),
      streams_(neighbours_.size()) {
  if (buffers.in != buffers.out && buffers.count != 0) {
    std::memcpy(buffers.out, buffers.in, buffers.bytes());
  }
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    auto& [route, ranges, steps, done] = parts_[part];
    route = layout.route(part);
    ranges = {share({0, buffers.count}, part, layout.interfaces())};
    for (const auto interface : route) {
      ranges.push_back(share(ranges.back(), layout.place(interface), layout.group_size()));
    }
    steps.resize(2 * route.size());
  }
  // Pieces are planned step by step, so that both ends of a stream have them in the same order.
  const auto stages = parts_.front().route.size();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      plan_adding(part, stage, layout);
    }
  }
  for (std::size_t stage = stages; stage-- > 0;) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      plan_gathering(part, stage, layout);
    }
  }
  for (auto& part : parts_) {
    advance(part);  // of a short vector, shares are empty
  }
}

CubeSchedule::Range CubeSchedule::share(Range range, std::uint32_t place,
                                        std::uint32_t members) const {
  const auto grains = (range.size() + grain_ - 1) / grain_;
  const auto begin = [&](std::size_t member) {
    return std::min(range.begin + grains * member / members * grain_, range.end);
  };
  return {begin(place), begin(place + 1)};
}

void CubeSchedule::plan_adding(std::size_t part, std::size_t stage, const CubeLayout& layout) {
  auto& [route, ranges, steps, done] = parts_[part];
  auto& step = steps[stage];
  const auto mine = bytes_of(ranges[stage + 1]);
  step.target = place_of(ranges[stage + 1]);
  step.bytes = mine;
  step.staging = std::make_unique_for_overwrite<std::byte[]>(mine * (layout.group_size() - 1));
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const auto& neighbour = neighbours_[stream];
    if (neighbour.interface != route[stage]) {
      continue;
    }
    auto& [out, in] = streams_[stream];
    const auto theirs = share(ranges[stage], neighbour.place, layout.group_size());
    auto* const at = step.staging.get() + step.arrivals.size() * mine;
    step.arrivals.push_back({stream, in.total, mine, at});
    in.add({.bytes = mine, .at = at});
    out.add({.bytes = bytes_of(theirs), .at = place_of(theirs), .part = part, .step = stage});
  }
}

void CubeSchedule::plan_gathering(std::size_t part, std::size_t stage, const CubeLayout& layout) {
  auto& [route, ranges, steps, done] = parts_[part];
  const auto number = steps.size() - 1 - stage;
  auto& step = steps[number];
  const auto mine = ranges[stage + 1];
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const auto& neighbour = neighbours_[stream];
    if (neighbour.interface != route[stage]) {
      continue;
    }
    auto& [out, in] = streams_[stream];
    const auto theirs = share(ranges[stage], neighbour.place, layout.group_size());
    auto* const at = place_of(theirs);
    step.arrivals.push_back({stream, in.total, bytes_of(theirs), at});
    in.add({.bytes = bytes_of(theirs), .at = at});
    out.add({.bytes = bytes_of(mine), .at = place_of(mine), .part = part, .step = number});
  }
}

wire::Bytes CubeSchedule::sendable(std::size_t stream) const {
  const auto& out = streams_[stream].out;
  if (out.done() || parts_[out.pieces[out.piece].part].done < out.pieces[out.piece].step) {
    return {};
  }
  return out.rest();
}

void CubeSchedule::sent(std::size_t stream, std::size_t bytes) {
  streams_[stream].out.move(bytes);
}

wire::MutableBytes CubeSchedule::receivable(std::size_t stream) {
  const auto& in = streams_[stream].in;
  return in.done() ? wire::MutableBytes() : in.rest();
}

void CubeSchedule::received(std::size_t stream, std::size_t bytes) {
  streams_[stream].in.move(bytes);
  for (auto& part : parts_) {
    advance(part);
  }
}

bool CubeSchedule::finished() const {
  return std::ranges::all_of(streams_, [](const Neighbour& one) { return one.out.done(); }) &&
         std::ranges::all_of(parts_,
                             [](const Part& part) { return part.done == part.steps.size(); });
}

std::size_t CubeSchedule::arrived(const Arrival& arrival) const {
  const auto moved = streams_[arrival.stream].in.moved;
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(moved - std::min(moved, arrival.start), arrival.bytes));
}

void CubeSchedule::advance(Part& part) {
  while (part.done != part.steps.size() && complete(part.steps[part.done])) {
    part.steps[part.done].staging.reset();
    ++part.done;
  }
}

// Adds what has come of all, and tells whether the step is complete.
bool CubeSchedule::complete(Step& step) {
  if (step.target == nullptr) {
    return std::ranges::all_of(step.arrivals,
                               [&](const Arrival& one) { return arrived(one) == one.bytes; });
  }
  auto end = step.bytes;
  for (const auto& arrival : step.arrivals) {
    end = std::min(end, arrived(arrival));
  }
  const auto grain_bytes = grain_ * element_bytes_;
  if (end != step.bytes) {
    end = end / grain_bytes * grain_bytes;
  }
  if (end == step.bytes || end >= step.added + worthwhile_bytes) {
    add(step, end);
  }
  return step.added == step.bytes;
}

void CubeSchedule::add(Step& step, std::size_t end) {
  const auto left = (end - step.added) / element_bytes_;
  const auto together = grain_ == 1 ? left : grain_;
  for (std::size_t at = 0; at < left; at += together) {
    const auto offset = step.added + at * element_bytes_;
    for (const auto& arrival : step.arrivals) {
      reduce_into(kernel_, element_bytes_, step.target + offset, arrival.at + offset,
                  std::min(together, left - at));
    }
  }
  step.added = end;
}

}  // namespace tributary::host
