// SPDX-License-Identifier: BSD-3-Clause
#include "host/exact/steps.h"

#include <algorithm>
#include <span>
#include <utility>

#include "host/exact/formats.h"
#include "host/exact/order.h"
#include "host/exact/specials.h"
#include "wire/element.h"

namespace tributary::host::exact {
namespace {

using wire::ElementType;
using wire::Operator;

bool reduces(const Call& call) {
  return call.collective == Collective::allreduce || call.collective == Collective::reduce;
}

}  // namespace

Manner manner_of(const Call& call) {
  const auto [type, op] = std::pair(call.buffers.type, call.buffers.op);
  if (!reduces(call) || !wire::is_valid(type, op) || wire::is_handler(op)) {
    return Manner::as_it_is;
  }
  if (is_float(type)) {
    return op == Operator::prod ? Manner::by_ring : Manner::in_steps;
  }
  // Integers that are equal have the same bits; a pair with a float, or with a gap, may have
  // others.
  const bool has_more_bits = wire::is_pair(type) && type != ElementType::i32_i32;
  return has_more_bits ? Manner::in_steps : Manner::as_it_is;
}

Steps::Steps(const Call& call, std::uint32_t rank, std::uint32_t world_size, Scratch& scratch)
    : call_(call),
      scratch_(scratch),
      quantiser_(call.buffers.type, world_size),
      wants_result_(call.collective != Collective::reduce || call.root == rank),
      piece_max_(piece_bytes / wire::element_bytes(carried_type())) {}

Steps::Stage Steps::first_stage() const {
  if (wire::is_pair(call_.buffers.type)) {
    return Stage::pairs;
  }
  return call_.buffers.op == Operator::sum ? Stage::exponents : Stage::keys;
}

ElementType Steps::carried_type() const {
  switch (first_stage()) {
    case Stage::pairs:
      return call_.buffers.type;
    case Stage::keys:
      return keys_of(call_.buffers.type);
    default:
      return quantiser_.integers();
  }
}

std::optional<Step> Steps::next() {
  if (stage_ && !given_up()) {
    take(*stage_);
  }
  if (stage_ == Stage::exponents) {
    stage_ = Stage::integers;
  } else if (stage_ == Stage::integers) {
    stage_ = Stage::marks;
  } else {
    begin_piece();
  }
  if (!stage_) {
    return std::nullopt;
  }
  if (!given_up()) {
    prepare(*stage_);
  }
  return step_of(*stage_);
}

void Steps::begin_piece() {
  first_ += count_;
  count_ = std::min(piece_max_, call_.buffers.count - first_);
  stage_ = count_ == 0 ? std::nullopt : std::optional(first_stage());
}

void Steps::prepare(Stage stage) {
  const auto [type, op] = std::pair(call_.buffers.type, call_.buffers.op);
  auto& [exponents, elements, marks] = scratch_;
  if (stage == Stage::exponents) {
    exponents.resize(chunks_of(count_) + 1);
    all_finite_ = quantiser_.find_exponents(exponents, in(), count_);
    exponents.back() = all_finite_ ? 0 : 1;
  } else if (stage == Stage::marks) {
    marks.resize(all_finite_ ? 0 : count_);
    find_specials(marks, in(), type);
  } else {
    elements.resize(count_ * wire::element_bytes(carried_type()));
  }
  if (stage == Stage::integers) {
    quantiser_.quantise(elements.data(), in(), count_, exponents);
  } else if (stage == Stage::keys) {
    to_keys(elements.data(), in(), count_, type, op);
  } else if (stage == Stage::pairs) {
    make_alike(elements.data(), in(), count_, type);
  }
}

// Sums are written only when the marks are there: the call's buffers may be the same, and the marks
// are found in what was given.
void Steps::take(Stage stage) {
  const auto [type, op] = std::pair(call_.buffers.type, call_.buffers.op);
  const auto& [exponents, elements, marks] = scratch_;
  if (stage == Stage::exponents) {
    all_finite_ = exponents.back() == 0;
    return;
  }
  if (!wants_result_) {
    return;
  }
  if (stage == Stage::marks) {
    quantiser_.restore(out(), elements.data(), count_, exponents);
    put_specials(out(), marks, type);
  } else if (stage == Stage::keys) {
    from_keys(out(), elements.data(), count_, type, op);
  } else if (stage == Stage::pairs) {
    std::copy_n(elements.data(), elements.size(), out());
  }
}

Call Steps::over(std::byte* elements, std::size_t count, ElementType type, Operator op) const {
  return {call_.collective, {elements, elements, count, type, op}, call_.root};
}

// All ranks need the exponents, also where one alone gets the result.
Step Steps::step_of(Stage stage) {
  auto& [exponents, elements, marks] = scratch_;
  switch (stage) {
    case Stage::exponents: {
      auto* const words = std::as_writable_bytes(std::span(exponents)).data();
      auto call = over(words, chunks_of(count_) + 1, ElementType::i32, Operator::max);
      call.collective = Collective::allreduce;
      call.root = 0;
      return {call};
    }
    case Stage::marks: {
      auto* const bytes = std::as_writable_bytes(std::span(marks)).data();
      return {over(bytes, count_, ElementType::i8, Operator::bit_or), true, !all_finite_};
    }
    case Stage::integers:
      return {over(elements.data(), count_, carried_type(), Operator::sum)};
    default:
      return {over(elements.data(), count_, carried_type(), call_.buffers.op)};
  }
}

}  // namespace tributary::host::exact
