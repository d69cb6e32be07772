// SPDX-License-Identifier: BSD-3-Clause
#include "host/roce/responder.h"

#include <cstring>

namespace tributary::host::roce {
namespace {

// The syndrome of an acknowledgement that sets no limit on messages to come.
constexpr std::uint8_t unlimited_credits = 0x1f;
constexpr std::uint8_t invalid_request = 0x61;
constexpr std::uint8_t access_error = 0x62;

constexpr bool is_write(wire::RoceOpcode opcode) {
  return opcode >= wire::RoceOpcode::write_first &&
         opcode <= wire::RoceOpcode::write_only_immediate;
}

}  // namespace

void Responder::take(const wire::RoceView& packet, bool marked, Time now) {
  if (refuses_) {
    return;
  }
  if (marked && now - notified_at_ >= tuning_.notification_interval) {
    notify_ = true;
    notified_at_ = now;
  }
  const auto ahead = wire::psn_distance(expected_, packet.bth->psn.value());
  if (ahead == 0) {
    accept(packet);
  } else if (ahead > wire::psn_mask / 2) {
    ++statistics_.ignored_duplicate;
    acknowledge_ = true;  // the other end does not know, or it would not have come again
  } else {
    ++statistics_.ignored_out_of_order;
    if (!complained_) {
      complained_ = true;
      nak_ = wire::AethHeader::nak_sequence_error;
    }
  }
}

void Responder::accept(const wire::RoceView& packet) {
  if (!is_write(packet.bth->opcode) ||
      wire::begins_message(packet.position()) == open_.has_value()) {
    return refuse(invalid_request);
  }
  if (wire::begins_message(packet.position()) && !begin(packet)) {
    return refuse(access_error);
  }
  if (!fits(packet)) {
    return refuse(invalid_request);
  }
  auto& message = *open_;
  std::memcpy(region_.bytes.data() + message.offset + message.received, packet.payload.data(),
              packet.payload.size());
  message.received += static_cast<std::uint32_t>(packet.payload.size());
  expected_ = wire::psn_add(expected_, 1);
  complained_ = false;
  ++statistics_.packets_received;
  statistics_.bytes_received += packet.payload.size();
  acknowledge_ |= (packet.bth->acknowledge & wire::BthHeader::acknowledge_bit) != 0;
  if (wire::ends_message(packet.position())) {
    ++messages_;
    if (packet.immediate != nullptr) {
      written_.push_back({packet.immediate->data.value(), message.length});
    }
    open_.reset();
  }
}

bool Responder::begin(const wire::RoceView& packet) {
  const auto offset = packet.reth->address.value() - region_.address;
  const auto length = packet.reth->length.value();
  if (packet.reth->key.value() != region_.key || offset > region_.bytes.size() ||
      length > region_.bytes.size() - offset) {
    return false;
  }
  open_ = Message{offset, length, 0};
  return true;
}

bool Responder::fits(const wire::RoceView& packet) const {
  const auto left = open_->length - open_->received;
  return wire::ends_message(packet.position()) ? packet.payload.size() == left && left <= mtu_
                                               : packet.payload.size() == mtu_ && left > mtu_;
}

void Responder::refuse(std::uint8_t syndrome) {
  refuses_ = true;
  nak_ = syndrome;
}

std::optional<Written> Responder::next_written() {
  if (written_.empty()) {
    return std::nullopt;
  }
  const auto written = written_.front();
  written_.pop_front();
  return written;
}

void Responder::poll(Outbox& outbox) {
  if (notify_ && !outbox.full()) {
    send_congestion_notification(outbox, path_);
    notify_ = false;
    ++statistics_.congestion_notifications_sent;
  }
  if (nak_ && !outbox.full()) {
    answer(outbox, expected_, *nak_);
    statistics_.sequence_errors_sent += *nak_ == wire::AethHeader::nak_sequence_error ? 1 : 0;
    nak_.reset();
    acknowledge_ = false;  // it says the same
  }
  if (acknowledge_ && !outbox.full()) {
    answer(outbox, wire::psn_add(expected_, wire::psn_mask), unlimited_credits);
    ++statistics_.acknowledgements_sent;
    acknowledge_ = false;
  }
}

void Responder::answer(Outbox& outbox, std::uint32_t psn, std::uint8_t syndrome) {
  wire::AethHeader aeth;
  aeth.syndrome = syndrome;
  aeth.msn = messages_ & wire::psn_mask;
  Sending sending;
  sending.bth.opcode = wire::RoceOpcode::acknowledge;
  sending.bth.psn = psn;
  sending.aeth = &aeth;
  send(outbox, path_, sending);
}

}  // namespace tributary::host::roce
