// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/sparse_wire.h"

namespace tributary::wire {
namespace {

constexpr std::uint8_t known_sparse_flags = FlareSparseHeader::sparse_bit |
                                            FlareHeader::retransmission_bit |
                                            FlareHeader::answer_bit | FlareHeader::version_mask;

bool is_shape_possible(const FlareSparseHeader& header) {
  const auto full = header.full.value();
  const auto span = header.span.value();
  return is_flare_sparse_type(header.element_type) && header.op == Operator::sum &&
         full >= flare_full_min && full % element_bytes_max == 0 && span != 0 &&
         span <= shape_of(header).span_max();
}

bool is_form_possible(const FlareSparseHeader& header) {
  const auto elements = header.elements.value();
  const auto first = header.first.value();
  const auto shape = shape_of(header);
  if (header.form == FlareForm::pairs) {
    return first == 0 && elements <= shape.pairs_per_shard();
  }
  return header.form == FlareForm::run && elements != 0 && elements <= shape.elements_per_run() &&
         first + elements <= header.span.value();
}

// Only the last shard of a contribution says how many there are, and whose they are.
bool is_contribution_possible(const FlareSparseHeader& header) {
  const auto contributions = header.contributions.value();
  if (header.shards == 0) {
    return contributions == 0 && header.shard + 1u < flare_shards_max;
  }
  return header.shards <= flare_shards_max && header.is_last() && contributions != 0 &&
         contributions <= header.workers.value();
}

bool is_result_possible(const FlareSparseHeader& header) {
  return header.contributions.value() == header.workers.value() &&
         header.shards <= flare_runs_max && header.shard < header.shards;
}

bool is_inquiry_possible(const FlareSparseHeader& header) {
  return header.elements.value() == 0 && header.contributions.value() == 0 &&
         header.fingerprint.value() == 0 && header.edition.value() == 0 && header.shard == 0 &&
         header.shards == 0;
}

bool is_kind_possible(const FlareSparseHeader& header) {
  switch (header.kind) {
    case FlareKind::contribution:
      return is_contribution_possible(header);
    case FlareKind::result:
      return is_result_possible(header);
    case FlareKind::inquiry:
      return is_inquiry_possible(header);
    case FlareKind::refusal:  // the opening of a sparse allreduce is dense, and finds out before
      return false;
  }
  return false;
}

bool is_well_formed(const FlareSparseHeader& header) {
  const auto window = header.window.value();
  const bool has_nothing_reserved =
      std::all_of(std::begin(header.reserved), std::end(header.reserved),
                  [](std::uint8_t byte) { return byte == 0; });
  return (header.flags & ~known_sparse_flags) == 0 &&
         (header.flags & FlareSparseHeader::sparse_bit) != 0 && has_nothing_reserved &&
         window >= 1 && window <= flare_window_max && header.workers.value() != 0 &&
         is_shape_possible(header) && is_form_possible(header) && is_kind_possible(header);
}

// Checks the offsets of pairs: they say where is written.
bool has_sound_offsets(const FlareSparseHeader& header, Bytes payload) {
  if (header.form != FlareForm::pairs) {
    return true;
  }
  const auto span = header.span.value();
  const auto pair_bytes = shape_of(header).pair_bytes();
  for (std::size_t at = 0; at < payload.size(); at += pair_bytes) {
    if (flare_offset_at(payload.data() + at) >= span) {
      return false;
    }
  }
  return true;
}

FlareError error_of(const FlareSparseHeader& header, Bytes payload) {
  if (header.version() != FlareSparseHeader::current_version) {
    return FlareError::version;
  }
  if (!is_well_formed(header)) {
    return FlareError::malformed;
  }
  const auto expected = flare_payload_bytes(header);
  if (payload.size() != expected) {
    return payload.size() < expected ? FlareError::truncated : FlareError::oversized;
  }
  if (!is_intact(header, payload)) {
    return FlareError::crc;
  }
  return has_sound_offsets(header, payload) ? FlareError::none : FlareError::malformed;
}

}  // namespace

FlareSparseView parse_flare_sparse(MutableBytes bytes) {
  MutableCursor cursor(bytes);
  FlareSparseView view;
  view.header = cursor.take<FlareSparseHeader>();
  if (view.header == nullptr) {
    return view;
  }
  view.error = error_of(*view.header, cursor.rest());
  if (view.error == FlareError::none) {
    view.payload = cursor.rest();
  }
  return view;
}

}  // namespace tributary::wire
