// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/call.h"
#include "host/exact/quantiser.h"
#include "host/step.h"

namespace tributary::host::exact {

// Says how a collective is carried out whose result has the same bits in whatever order the
// contributions come together.
enum class Manner : std::uint8_t {
  as_it_is,  // nothing in it depends on the order
  in_steps,
  by_ring,  // products of floats: the order in which the ring multiplies is always the same
};
Manner manner_of(const Call& call);

// The memory of steps, worth keeping for the next collective.
struct Scratch {
  std::vector<std::int32_t> exponents;
  std::vector<std::byte> elements;  // on their way
  std::vector<std::uint8_t> marks;
};

// The steps of a collective whose manner is in_steps. How many there are, and of which shape,
// follows from the call and the world alone.
//
// Long vectors go in pieces, so that the memory is bounded. A sum of floats has three steps for
// each piece: the exponents, of which the greatest counts, with a word behind them that says
// whether all elements are finite; the integers, which are added up; and the marks of elements
// that are not finite, where there are any.
class Steps final : public host::Steps {
 public:
  // The most bytes of a piece on its way; a multiple of all that a chunk can have.
  static constexpr std::size_t piece_bytes = std::size_t{64} << 20;

  // Precondition: the manner of the call is in_steps, there are up to world_size_max ranks, and
  // `rank` is one of them. The call's buffers and the scratch outlive this object.
  Steps(const Call& call, std::uint32_t rank, std::uint32_t world_size, Scratch& scratch);

  std::optional<Step> next() override;

 private:
  enum class Stage : std::uint8_t { exponents, integers, marks, keys, pairs };

  Stage first_stage() const;
  void begin_piece();
  void prepare(Stage stage);
  void take(Stage stage);
  Step step_of(Stage stage);
  Call over(std::byte* elements, std::size_t count, wire::ElementType type,
            wire::Operator op) const;

  std::size_t element_bytes() const { return wire::element_bytes(call_.buffers.type); }
  // These are the piece's places in the caller's buffers.
  const std::byte* in() const { return call_.buffers.in + first_ * element_bytes(); }
  std::byte* out() const { return call_.buffers.out + first_ * element_bytes(); }
  wire::ElementType carried_type() const;

  Call call_;
  Scratch& scratch_;
  Quantiser quantiser_;
  bool wants_result_;
  std::size_t piece_max_;  // elements
  std::size_t first_ = 0;  // element of the piece
  std::size_t count_ = 0;  // of elements in the piece
  std::optional<Stage> stage_;
  bool all_finite_ = true;
};

}  // namespace tributary::host::exact
