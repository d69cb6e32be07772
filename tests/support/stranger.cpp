// SPDX-License-Identifier: BSD-3-Clause
#include "support/stranger.h"

#include <cstdint>

#include "engine/frame.h"
#include "protocols/canary/wire.h"
#include "protocols/flare/wire.h"
#include "protocols/netreduce/wire.h"
#include "protocols/panama/wire.h"
#include "support/dress.h"
#include "support/roce_packets.h"
#include "wire/checksum.h"
#include "wire/roce.h"

namespace tributary::test {
namespace {

void change_kind(wire::CanaryHeader& header, std::uint64_t draw) {
  header.kind = static_cast<wire::CanaryKind>(1 + draw % 7);
  const bool answers =
      header.kind == wire::CanaryKind::result || header.kind == wire::CanaryKind::restoration;
  const bool goes_down = answers || header.kind == wire::CanaryKind::release;
  header.flags = static_cast<std::uint8_t>(
      wire::CanaryHeader::current_version | (goes_down ? wire::CanaryHeader::multicast_bit : 0) |
      (header.flags & wire::CanaryHeader::congested_bit) |
      (header.flags & (goes_down ? 0 : wire::CanaryHeader::bypass_bit)));
  header.counter = answers                                         ? header.hosts.value()
                   : header.kind == wire::CanaryKind::contribution ? std::uint16_t{1}
                                                                   : std::uint16_t{0};
}

bool is_roce(const engine::Frame& frame) {
  return frame.udp != nullptr && frame.udp->destination_port.value() == wire::roce_udp_port &&
         frame.payload.size() >= sizeof(wire::BthHeader) + wire::icrc_bytes;
}

// Changes what a gradient says of itself; any of it may stay as it was.
void change_gradient(const wire::RoceView& gradient, std::uint64_t draw) {
  if (gradient.payload.size() >= sizeof(wire::InaHeader) && wire::peek_ina(gradient.payload)) {
    auto& header = *reinterpret_cast<wire::InaHeader*>(gradient.payload.data());
    if (draw % 2 == 0) {
      header.run = static_cast<std::uint32_t>(draw >> 32);
    }
    if (draw % 3 == 0) {
      header.message = 0;
    } else if (draw % 3 == 1) {
      header.message = header.message.value() + static_cast<std::uint32_t>(draw >> 16) % 16;
    }
    if (draw % 5 == 0 && header.world.value() != 0) {
      header.rank = static_cast<std::uint16_t>((draw >> 24) % header.world.value());
    }
  }
  if (!gradient.payload.empty()) {
    gradient.payload.back() ^= std::byte{0x55};
  }
}

// No network lets a stranger change his address.
void send_from_own_address(wire::Ipv4Header& header, std::uint64_t draw) {
  header.source = wire::Ipv4Address(10, 250, 0, static_cast<std::uint8_t>(1 + draw % 250));
  wire::finish_ipv4(header);
}

void forge_roce(const engine::Frame& parsed, std::mt19937_64& random) {
  const auto draw = random();
  send_from_own_address(*parsed.ipv4, draw);
  auto& bth = *reinterpret_cast<wire::BthHeader*>(parsed.payload.data());
  if ((draw >> 8) % 2 == 0) {
    bth.psn = wire::psn_add(bth.psn.value(), static_cast<std::uint32_t>(draw >> 40));
  }
  if (const auto gradient = wire::parse_roce(parsed.payload); gradient.bth != nullptr) {
    change_gradient(gradient, draw >> 9);
  }
}

bool is_panama(const engine::Frame& frame) {
  return frame.udp != nullptr && frame.udp->destination_port.value() == wire::panama_udp_port;
}

// Returns false if it is damaged.
bool forge_panama(const engine::Frame& parsed, std::mt19937_64& random) {
  const auto view = wire::parse_panama(parsed.payload);
  if (view.error != wire::PanamaError::none) {
    return false;
  }
  auto& header = *view.header;
  const auto draw = random();
  send_from_own_address(*parsed.ipv4, draw);
  if (header.kind != wire::PanamaKind::inquiry && draw % 2 == 0) {
    header.kind = header.kind == wire::PanamaKind::result ? wire::PanamaKind::aggregation
                                                          : wire::PanamaKind::result;
  }
  header.run = header.run.value() + static_cast<std::uint32_t>(draw >> 8) % 2;
  header.epoch = header.epoch.value() + static_cast<std::uint32_t>(draw >> 16) % 3;
  header.vid = header.vid.value() + static_cast<std::uint32_t>(draw >> 24) % 4;
  header.contributions = static_cast<std::uint16_t>(1 + (draw >> 32) % header.workers.value());
  header.fingerprint = random();
  header.wnd_cap = static_cast<std::uint16_t>(draw >> 48);
  if (!view.payload.empty()) {
    view.payload[0] ^= std::byte{0x55};
  }
  const wire::MutableBytes mask(view.payload.data() + view.payload.size(), header.mask_bytes());
  for (std::uint32_t rank = 0; header.has_mask() && rank < header.workers.value(); ++rank) {
    wire::set_rank(mask, rank, rank < header.contributions.value());
  }
  seal(header, view.payload, mask);
  return true;
}

bool is_flare(const engine::Frame& frame) {
  return frame.udp != nullptr && frame.udp->destination_port.value() == wire::flare_udp_port;
}

// Returns false if it is damaged.
bool forge_flare(const engine::Frame& parsed, std::mt19937_64& random) {
  const auto view = wire::parse_flare(parsed.payload);
  if (view.error != wire::FlareError::none) {
    return false;
  }
  auto& header = *view.header;
  const auto draw = random();
  send_from_own_address(*parsed.ipv4, draw);
  if (header.kind != wire::FlareKind::inquiry && draw % 2 == 0) {
    header.kind = header.kind == wire::FlareKind::result ? wire::FlareKind::contribution
                                                         : wire::FlareKind::result;
  }
  header.run = header.run.value() + static_cast<std::uint32_t>(draw >> 8) % 2;
  header.block = header.block.value() + (draw >> 16) % 4;
  const auto some = static_cast<std::uint16_t>(1 + (draw >> 24) % header.workers.value());
  header.contributions = header.kind == wire::FlareKind::result ? header.workers.value() : some;
  header.fingerprint = random();
  if (!view.payload.empty()) {
    view.payload[0] ^= std::byte{0x55};
  }
  seal(header, view.payload);
  return true;
}

// Returns false if it is none of Canary's, or damaged.
bool forge_canary(const engine::Frame& parsed, std::mt19937_64& random) {
  const auto encapsulation =
      parsed.udp != nullptr ? wire::Encapsulation::udp : wire::Encapsulation::ethernet;
  const auto view = wire::parse_canary(parsed.payload, encapsulation);
  if (view.error != wire::CanaryError::none) {
    return false;
  }
  auto& header = *view.header;
  header.fingerprint = random();
  const auto draw = random();
  if (draw % 2 == 0) {
    change_kind(header, draw >> 8);
  }
  if (draw % 3 == 0) {
    header.rank = static_cast<std::uint16_t>((draw >> 16) % header.hosts.value());
  } else if (draw % 3 == 1) {
    header.rank = wire::CanaryHeader::no_rank;
  }
  if (draw % 5 == 0) {
    header.id = wire::canary_id(header.id.value(), static_cast<std::uint32_t>(draw >> 24) % 16);
  } else if (draw % 5 == 1) {
    header.id = header.id.value() + (static_cast<std::uint32_t>(draw >> 24) % 64);
  }
  if (!view.payload.empty()) {
    view.payload[0] ^= std::byte{0x55};
  }
  seal(header, view.payload);
  return true;
}

}  // namespace

bool forge(Packet& frame, Receiver receiver, std::mt19937_64& random) {
  const auto dress = take_off(frame);
  const auto parsed = engine::parse_frame(frame);
  bool is_forged = true;
  if (is_roce(parsed)) {
    forge_roce(parsed, random);
  } else if (is_panama(parsed)) {
    is_forged = receiver == Receiver::fabric && forge_panama(parsed, random);
  } else if (is_flare(parsed)) {
    is_forged = receiver == Receiver::fabric && forge_flare(parsed, random);
  } else {
    is_forged = forge_canary(parsed, random);
  }
  const bool is_sealed_with_headers = is_roce(parsed);
  put_on(frame, {std::nullopt, dress.prefix});
  if (is_sealed_with_headers) {
    reseal_roce(frame);
  }
  put_on(frame, {dress.tag, std::nullopt});
  return is_forged;
}

}  // namespace tributary::test
