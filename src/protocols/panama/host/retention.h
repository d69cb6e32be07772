// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/kept_results.h"
#include "protocols/panama/wire.h"
#include "wire/cursor.h"

namespace tributary::host {

// A header of a result that is kept, and the result's mask. Elements may lie in the caller's
// buffers, so that the mask cannot stand behind them.
struct PanamaKeptHeader : wire::PanamaHeader {
  PanamaKeptHeader() = default;
  PanamaKeptHeader(const wire::PanamaHeader& header, wire::Bytes mask) : PanamaHeader(header) {
    std::copy(mask.begin(), mask.end(), mask_space.begin());
  }
  wire::Bytes mask() const { return wire::Bytes(mask_space).first(mask_bytes()); }

  std::array<std::byte, wire::rank_mask_bytes(wire::panama_masked_ranks_max)> mask_space{};
};

// Keeps the latest results of one tree, for ranks that did not get theirs: they may ask when
// switches have forgotten them, and when the caller's buffers are gone. Windows are spans, so
// nobody lacks what is further back than a window.
class PanamaRetention {
 public:
  // A rank may have `window` packets on the way, whatever switches have room for. If `partial`,
  // results may lack somebody, who may then be three windows behind, each as wide as switches have
  // room, but wire::panama_kept_min packets at least.
  PanamaRetention(std::uint32_t window, bool partial, std::uint32_t payload_bytes);

  // Begins the next collective. What was kept of those before stays, as far as there is room.
  void begin(std::uint32_t epoch);
  // Keeps a result whose elements stay where they are until settle().
  void keep(const PanamaKeptHeader& header, wire::Bytes elements);
  // Keeps a copy of a result whose elements do not stay.
  void keep_copy(const PanamaKeptHeader& header, wire::Bytes elements);
  // Copies what is kept in the caller's buffers: the collective is over, and they are the caller's
  // again.
  void settle();
  // Gives these buffers up as well, but loses what was not copied.
  void drop();

  using Result = KeptResults<PanamaKeptHeader>::Result;
  std::optional<Result> find(std::uint32_t epoch, std::uint32_t vid) const;

 private:
  struct Span {
    std::uint32_t epoch = 0;
    std::uint64_t first = 0;  // position of VID 0
  };
  // Returns how far behind the end somebody may be.
  std::uint64_t reach() const;
  // Returns where a result belongs, and makes room for it.
  std::uint64_t take_position(const wire::PanamaHeader& header);

  std::uint32_t window_;
  bool partial_;
  KeptResults<PanamaKeptHeader> kept_;                                 // by position
  std::array<Span, std::bit_ceil(wire::panama_epochs_kept)> spans_{};  // by epoch
  std::uint64_t first_ = 0;                                            // of the latest epoch
  std::uint64_t end_ = 0;     // behind the highest position
  std::uint32_t widest_ = 0;  // windows that switches ever had room for, if `partial_`
};

}  // namespace tributary::host
