// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/frames.h"

#include <algorithm>
#include <cstring>

#include "host/object_bytes.h"
#include "host/rendezvous/messages.h"

namespace tributary::host {
namespace {

using Kind = CubeFrame::Kind;

void append(std::vector<std::byte>& to, wire::Bytes bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

CubeFrame frame_of(Kind kind, std::size_t bytes) {
  CubeFrame header;
  header.kind = kind;
  header.bytes = static_cast<std::uint32_t>(bytes);
  return header;
}

// A neighbour that speaks another version may claim any code.
Error::Code code_of(std::uint8_t code) {
  return code < static_cast<std::uint8_t>(Error::Code::internal) ? static_cast<Error::Code>(code)
                                                                 : Error::Code::network;
}

}  // namespace

std::vector<std::byte> failure_frame(const Error& why) {
  auto header = frame_of(Kind::failure, std::min(why.message.size(), CubeFrame::failure_text_max));
  header.code = static_cast<std::uint8_t>(why.code);
  std::vector<std::byte> all;
  append(all, bytes_of(header));
  append(all, std::as_bytes(std::span(why.message)).first(header.bytes.value()));
  return all;
}

Error told_error(const CubeFrame& header, wire::Bytes text) {
  return {code_of(header.code),
          std::string(reinterpret_cast<const char*>(text.data()), text.size())};
}

CubeWriter::CubeWriter(CubeSchedule& schedule, std::size_t stream, const RingAnnouncement& mine)
    : schedule_(schedule), stream_(stream) {
  frame(Kind::announcement, mine.bytes().size());
  append(control_, mine.bytes());
}

void CubeWriter::frame(Kind kind, std::size_t bytes) {
  if (control_sent_ == control_.size()) {
    control_.clear();
    control_sent_ = 0;
  }
  append(control_, bytes_of(frame_of(kind, bytes)));
}

std::array<wire::Bytes, 2> CubeWriter::sendable() {
  const auto elements = schedule_.sendable(stream_);
  if (left_ == 0 && !elements.empty()) {
    left_ = std::min(elements.size(), CubeFrame::bytes_max);
    frame(Kind::elements, left_);
  }
  return {wire::Bytes(control_).subspan(control_sent_), elements.first(left_)};
}

void CubeWriter::sent(std::size_t bytes) {
  const auto control = std::min(bytes, control_.size() - control_sent_);
  control_sent_ += control;
  left_ -= bytes - control;
  schedule_.sent(stream_, bytes - control);
}

bool CubeWriter::finished() const {
  return control_sent_ == control_.size() && left_ == 0 &&
         schedule_.bytes_sent(stream_) == schedule_.bytes_to_send(stream_);
}

std::vector<std::byte> CubeWriter::ending(const Error& why) {
  std::vector<std::byte> all(control_.begin() + static_cast<std::ptrdiff_t>(control_sent_),
                             control_.end());
  append(all, schedule_.sendable(stream_).first(left_));
  append(all, failure_frame(why));
  return all;
}

CubeReader::CubeReader(CubeSchedule& schedule, std::size_t stream, const RingAnnouncement& mine,
                       CubeHeader& header)
    : schedule_(schedule), stream_(stream), mine_(mine), header_(header) {
  if (header_.is_complete()) {
    open();
  }
}

bool CubeReader::has_all() const {
  return joined_ && schedule_.bytes_received(stream_) == schedule_.bytes_expected(stream_);
}

wire::MutableBytes CubeReader::receivable() {
  if (left_ == 0) {
    return writable_bytes_of(header_.frame).subspan(header_.known);
  }
  if (header_.frame.kind == Kind::elements) {
    return schedule_.receivable(stream_).first(left_);
  }
  return wire::MutableBytes(text_).last(left_);
}

Result<void> CubeReader::received(std::size_t bytes, const std::string& who) {
  if (left_ == 0) {
    header_.known += bytes;
    return header_.is_complete() ? begin(who) : Result<void>();
  }
  left_ -= bytes;
  if (header_.frame.kind == Kind::elements) {
    schedule_.received(stream_, bytes);
  }
  if (left_ != 0) {
    return {};
  }
  header_.known = 0;
  return end(who);
}

Result<void> CubeReader::nonsense(const std::string& who) const {
  return fail(Error::Code::mismatch,
              who + " sent what is no part of this collective" + install_the_same);
}

// Makes room for what is in a frame, whose header has come.
void CubeReader::open() {
  left_ = header_.frame.bytes.value();
  text_.resize(header_.frame.kind == Kind::elements ? 0 : left_);
}

Result<void> CubeReader::begin(const std::string& who) {
  const std::size_t bytes = header_.frame.bytes.value();
  bool sound = false;
  switch (header_.frame.kind) {
    case Kind::announcement:
      sound = (!joined_ || has_all()) &&
              (bytes == RingAnnouncement::common_bytes || bytes == sizeof mine_);
      break;
    case Kind::elements:
      sound = bytes != 0 && joined_ && bytes <= schedule_.receivable(stream_).size();
      break;
    case Kind::failure:
      sound = bytes != 0 && bytes <= CubeFrame::failure_text_max;
      break;
  }
  if (!sound) {
    return nonsense(who);
  }
  if (header_.frame.kind != Kind::announcement || !joined_) {
    open();
  }
  return {};
}

Result<void> CubeReader::end(const std::string& who) {
  if (header_.frame.kind == Kind::failure) {
    return tl::make_unexpected(told_error(header_.frame, text_));
  }
  if (header_.frame.kind == Kind::elements) {
    return {};
  }
  joined_ = true;
  RingAnnouncement theirs;
  std::ranges::copy(text_, writable_bytes_of(theirs).begin());
  return agree(theirs, mine_, who).and_then([&]() -> Result<void> {
    return mine_.has_mark() ? agree_on_mark(theirs, mine_, who) : Result<void>();
  });
}

}  // namespace tributary::host
