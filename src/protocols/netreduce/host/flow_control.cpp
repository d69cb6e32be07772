// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/flow_control.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

#include "host/path_search.h"
#include "protocols/netreduce/host/tags.h"

namespace tributary::host {
namespace {

constexpr std::size_t header_bytes = sizeof(wire::InaHeader);

// Calls `use` for each packet of a message, whose bytes are `message`, with the number of the
// packet, where its elements begin among those of the message, the room for elements of `size`
// bytes, which may have a part of one to spare, and the whole packet.
template <typename Byte, typename Use>
void for_each_packet(std::span<Byte> message, std::uint32_t mtu, std::size_t size, Use use) {
  std::size_t elements = 0;
  for (std::uint32_t packet = 0; !message.empty(); ++packet) {
    const auto payload = message.first(std::min<std::size_t>(mtu, message.size()));
    const auto skipped = packet == 0 ? header_bytes : 0;
    const auto room = payload.subspan(skipped, payload.size() - skipped - wire::fingerprint_bytes);
    use(packet, elements, room, payload);
    elements += room.size() / size * size;
    message = message.subspan(payload.size());
  }
}

// Returns how many of the `bytes` that elements have from `offset` on fit into `room`, with no
// element cut.
std::size_t part(std::size_t bytes, std::size_t offset, std::size_t room, std::size_t size) {
  return offset >= bytes ? 0 : std::min(bytes - offset, room / size * size);
}

}  // namespace

FlowControl::FlowControl(Job job, const NetReducePlan& plan, Link& link)
    : job_(std::move(job)),
      plan_(plan),
      link_(link),
      run_(run_of(job_.key, plan.run)),
      calls_(std::uint64_t{plan.run} << 32) {}

Result<void> FlowControl::begin(const Call& call) {
  if (!broken_.empty()) {
    return fail(Error::Code::network,
                "the ring's run is over, make a new communicator: " + broken_);
  }
  const Reduction reduction(call, job_.rank);
  if (reduction.is_empty()) {
    return {};
  }
  const auto size = wire::element_bytes(reduction.type());
  const auto full = plan_.element_bytes(size);
  const auto count = std::max<std::size_t>((reduction.total_bytes() + full - 1) / full, 1);
  if (count > std::numeric_limits<std::uint32_t>::max() - end_) {
    return fail(Error::Code::invalid_argument,
                "the ring's run has no numbers left for so many messages: make a new communicator, "
                "or messages longer (TRIBUTARY_NETREDUCE_MESSAGE)");
  }
  assert(end_ != 0 || plan_.packets_for(reduction.total_bytes(), size) == 1);
  reduction_ = reduction;
  key_ = key_of_call(job_.key, calls_++);
  first_ = end_;
  end_ += static_cast<std::uint32_t>(count);
  return post_more();
}

void FlowControl::abandon(const std::string& why) {
  if (running()) {
    broken_ = why;
    end_ = posted_ = consumed_;
  }
}

FlowControl::Piece FlowControl::piece_of(std::uint32_t message) const {
  const auto size = wire::element_bytes(reduction_.type());
  const std::size_t full = plan_.element_bytes(size);
  Piece piece;
  piece.offset = (message - first_) * full;
  piece.bytes = std::min(full, reduction_.total_bytes() - piece.offset);
  const auto padded =
      (piece.bytes + wire::ina_alignment - 1) / wire::ina_alignment * wire::ina_alignment;
  piece.packets = plan_.packets_for(padded, size);
  piece.length = plan_.length_for(padded, size);
  return piece;
}

// The window implies that everybody has received the message that was in the slot before (see
// docs/reference/wire/netreduce.md); but the acknowledgement may have been lost, and then it may be
// sent once more.
bool FlowControl::may_post() const {
  return posted_ < end_ && posted_ - consumed_ < plan_.window &&
         posted_ - acknowledged_ < plan_.slots();
}

Result<void> FlowControl::post_more() {
  while (may_post()) {
    const auto message = posted_++;
    const auto piece = piece_of(message);
    assemble(message, piece);
    if (auto posted = link_.post(message, piece.length); !posted) {
      return posted;
    }
  }
  return {};
}

wire::InaHeader FlowControl::header_of(std::uint32_t message, const Piece& piece) const {
  wire::InaHeader header;
  header.tag = wire::InaHeader::current_tag;
  header.ring = plan_.ring;
  header.message = message;
  header.length = piece.length;
  header.run = run_;
  header.packets = static_cast<std::uint16_t>(piece.packets);
  header.rank = static_cast<std::uint16_t>(job_.rank);
  header.world = static_cast<std::uint16_t>(job_.world_size());
  header.element_type = reduction_.type();
  header.op = reduction_.op();
  return header;
}

void FlowControl::assemble(std::uint32_t message, const Piece& piece) {
  const auto bytes = link_.send_slot(message % plan_.slots()).first(piece.length);
  const auto header = header_of(message, piece);
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto own = message_tags_of(key_, message, job_.rank);
  const auto* const in = reduction_.has_input() ? reduction_.call().buffers.in : nullptr;
  const auto size = wire::element_bytes(reduction_.type());
  for_each_packet(
      bytes, plan_.mtu, size,
      [&](std::uint32_t packet, std::size_t offset, wire::MutableBytes room,
          wire::MutableBytes payload) {
        const auto given = in == nullptr ? 0 : part(piece.bytes, offset, room.size(), size);
        if (given != 0) {
          std::memcpy(room.data(), in + piece.offset + offset, given);
        }
        std::fill(room.begin() + static_cast<std::ptrdiff_t>(given), room.end(), std::byte{0});
        wire::store_fingerprint(payload, own.at(packet));
      });
}

Result<void> FlowControl::arrived(std::uint32_t message, std::uint32_t bytes) {
  return take(message, bytes).and_then([this] { return post_more(); });
}

Result<void> FlowControl::acknowledged(std::uint32_t messages) {
  acknowledged_ = messages;
  return post_more();
}

Result<void> FlowControl::take(std::uint32_t message, std::uint32_t bytes) {
  if (message >= posted_ && broken_.empty()) {  // this rank's part is not in it
    broken_ = not_added(message);
  }
  if (!broken_.empty()) {
    return running() ? Result<void>(fail(Error::Code::network, broken_)) : Result<void>();
  }
  const auto piece = piece_of(message);
  auto wanted = header_of(message, piece);
  wanted.rank = static_cast<std::uint16_t>(rank_before());
  const auto slot = link_.received_slot(message % plan_.slots()).first(piece.length);
  if (message != consumed_ || bytes != piece.length ||
      std::memcmp(slot.data(), &wanted, sizeof wanted) != 0) {
    return fail(Error::Code::mismatch,
                "message " + std::to_string(message) +
                    " of the rank before has another type, operator or length: do all ranks call "
                    "the same collective?");
  }
  return take_packets(piece, slot).map([this] { ++consumed_; });
}

Result<void> FlowControl::take_packets(const Piece& piece, wire::Bytes message) {
  const auto all = message_tags_of_all(key_, consumed_, job_.world_size());
  auto* const out = reduction_.wants_result() ? reduction_.call().buffers.out : nullptr;
  const auto size = wire::element_bytes(reduction_.type());
  Result<void> taken;
  for_each_packet(
      message, plan_.mtu, size,
      [&](std::uint32_t packet, std::size_t offset, wire::Bytes room, wire::Bytes payload) {
        const auto word = wire::load_fingerprint(payload);
        if (taken && word != all.at(packet)) {
          taken = not_the_sum(packet, word);
        }
        const auto wanted = out == nullptr ? 0 : part(piece.bytes, offset, room.size(), size);
        if (taken && wanted != 0) {
          std::memcpy(out + piece.offset + offset, room.data(), wanted);
        }
      });
  return taken;
}

// If message 0 was a sum, some switch has added before.
std::string FlowControl::not_added(std::uint32_t message) const {
  const auto came = "message " + std::to_string(message) + " came as rank " +
                    std::to_string(rank_before()) + " sent it: ";
  const auto ring = "ring " + std::to_string(plan_.ring);
  if (message != 0) {
    return came + "the switch that added for " + ring +
           " has forgotten it; was it restarted, or the ring set up anew, or is its window there "
           "(which ranks cannot see) smaller than here, " +
           std::to_string(plan_.window) + "?";
  }
  return came + "no switch on the way adds for " + ring +
         "; see that one has a [[switch.netreduce.ring]] with this id and the addresses of the "
         "ranks as members";
}

// Explains why a packet of the message that is due is not the sum.
tl::unexpected<Error> FlowControl::not_the_sum(std::uint32_t packet, std::uint64_t got) const {
  if (got == message_tags_of(key_, consumed_, rank_before()).at(packet)) {
    return fail(Error::Code::network, not_added(consumed_));
  }
  return fail(Error::Code::mismatch,
              "packet " + std::to_string(packet) + " of message " + std::to_string(consumed_) +
                  " is not the sum of what all ranks sent: do all ranks call the same collectives, "
                  "or was a switch restarted meanwhile?");
}

std::string FlowControl::diagnose() const {
  return "message " + std::to_string(consumed_ - first_) + " of " + std::to_string(end_ - first_) +
         " (number " + std::to_string(consumed_) +
         " of the run) did not come from the rank before; " + std::to_string(posted_ - first_) +
         " were sent, " + std::to_string(std::max(acknowledged_, first_) - first_) +
         " of them acknowledged; a rank is late or gone, or packets are lost on the way: "
         "'tributaryctl stalled' names the ranks that a switch waits for; where it names none, see "
         "what 'tributaryctl drops' counts at the switches and 'ip -s link' at the hosts" +
         likely_cause();
}

// Behind the barrier that begins a run comes a full message.
const char* FlowControl::likely_cause() const {
  return consumed_ > 1 && piece_of(consumed_).packets > 1 ? smaller_path : "";
}

}  // namespace tributary::host
