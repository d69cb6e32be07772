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

// Whoever speaks another version may claim any.
Error::Code code_of(std::uint8_t code) {
  return code < static_cast<std::uint8_t>(Error::Code::internal) ? static_cast<Error::Code>(code)
                                                                 : Error::Code::network;
}

}  // namespace

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
  auto header = frame_of(Kind::last_words, std::min(why.message.size(), CubeFrame::last_words_max));
  header.code = static_cast<std::uint8_t>(why.code);
  append(all, bytes_of(header));
  append(all, std::as_bytes(std::span(why.message)).first(header.bytes.value()));
  return all;
}

wire::MutableBytes CubeReader::receivable() {
  if (left_ == 0) {
    const bool all = joined_ && schedule_.receivable(stream_).empty();
    return all ? wire::MutableBytes() : writable_bytes_of(header_).subspan(header_known_);
  }
  if (header_.kind == Kind::elements) {
    return schedule_.receivable(stream_).first(left_);
  }
  return wire::MutableBytes(text_).last(left_);
}

Result<void> CubeReader::received(std::size_t bytes, const std::string& who) {
  if (left_ == 0) {
    header_known_ += bytes;
    return header_known_ == sizeof header_ ? begin(who) : Result<void>();
  }
  left_ -= bytes;
  if (header_.kind == Kind::elements) {
    schedule_.received(stream_, bytes);
  }
  return left_ == 0 ? end(who) : Result<void>();
}

Result<void> CubeReader::nonsense(const std::string& who) const {
  return fail(Error::Code::mismatch,
              who + " sent what is no part of this collective" + install_the_same);
}

// Of a frame, whose header has come.
Result<void> CubeReader::begin(const std::string& who) {
  header_known_ = 0;
  left_ = header_.bytes.value();
  bool sound = left_ != 0;
  switch (header_.kind) {
    case Kind::announcement:
      sound = !joined_ && (left_ == RingAnnouncement::common_bytes || left_ == sizeof mine_);
      break;
    case Kind::elements:
      sound = sound && joined_ && left_ <= schedule_.receivable(stream_).size();
      break;
    case Kind::last_words:
      sound = sound && left_ <= CubeFrame::last_words_max;
      break;
    default:
      sound = false;
  }
  if (!sound) {
    return nonsense(who);
  }
  text_.resize(header_.kind == Kind::elements ? 0 : left_);
  return {};
}

Result<void> CubeReader::end(const std::string& who) {
  if (header_.kind == Kind::last_words) {
    return fail(code_of(header_.code),
                std::string(reinterpret_cast<const char*>(text_.data()), text_.size()));
  }
  if (header_.kind == Kind::elements) {
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
