// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cube/schedule.h"
#include "host/error.h"
#include "host/ring/announcement.h"
#include "wire/cursor.h"
#include "wire/endian.h"

namespace tributary::host {

// This header goes before everything that goes over a connection between two ranks.
struct [[gnu::packed]] CubeFrame {
  enum class Kind : std::uint8_t {
    announcement = 1,  // of the collective that begins
    elements = 2,      // the next bytes of its stream
    failure = 3,       // why this rank goes no further: a text
  };
  static constexpr std::size_t bytes_max = 65536;
  static constexpr std::size_t failure_text_max = 1024;

  wire::be32 bytes;  // that follow
  Kind kind = Kind::elements;
  std::uint8_t code = 0;  // of a failure, an Error::Code
  wire::be16 reserved;
};
static_assert(sizeof(CubeFrame) == 8);

// These make a frame that tells of a failure, and the error that a neighbour's tells of.
std::vector<std::byte> failure_frame(const Error& why);
Error told_error(const CubeFrame& header, wire::Bytes text);

// Writes the stream to one neighbour, in frames; without I/O. A frame that was begun can always be
// ended: what is in it lies there.
class CubeWriter {
 public:
  CubeWriter(CubeSchedule& schedule, std::size_t stream, const RingAnnouncement& mine);

  // Returns what is to be sent now, one behind the other; both are empty if nothing is.
  std::array<wire::Bytes, 2> sendable();
  void sent(std::size_t bytes);
  bool finished() const;
  // Returns what is left of the frame that was begun, and a frame about the failure behind it.
  std::vector<std::byte> ending(const Error& why);

 private:
  void frame(CubeFrame::Kind kind, std::size_t bytes);

  CubeSchedule& schedule_;
  std::size_t stream_;
  std::vector<std::byte> control_;  // headers, and what is no element
  std::size_t control_sent_ = 0;
  std::size_t left_ = 0;  // bytes of elements in the frame
};

// Has what has come of a frame's header, from one collective to the next: the next one's
// announcement waits here.
struct CubeHeader {
  CubeFrame frame;
  std::size_t known = 0;  // bytes

  bool is_complete() const { return known == sizeof frame; }
};

// Reads what a neighbour has written. When all elements have come it listens on: behind them may be
// what a neighbour tells of a failure, which would be missed in a collective that never ends.
class CubeReader {
 public:
  // `header` outlives it.
  CubeReader(CubeSchedule& schedule, std::size_t stream, const RingAnnouncement& mine,
             CubeHeader& header);

  // Returns where what comes is to be put; empty when it belongs to the next collective.
  wire::MutableBytes receivable();
  // Takes what came from `who`; fails if it is nothing of this collective, or tells of a failure:
  // with that error.
  Result<void> received(std::size_t bytes, const std::string& who);
  bool joined() const { return joined_; }
  // Tells whether all of this collective has come.
  bool has_all() const;

 private:
  void open();
  Result<void> begin(const std::string& who);
  Result<void> end(const std::string& who);
  Result<void> nonsense(const std::string& who) const;

  CubeSchedule& schedule_;
  std::size_t stream_;
  const RingAnnouncement& mine_;
  CubeHeader& header_;
  std::size_t left_ = 0;         // of the frame
  std::vector<std::byte> text_;  // what is no element
  bool joined_ = false;
};

}  // namespace tributary::host
