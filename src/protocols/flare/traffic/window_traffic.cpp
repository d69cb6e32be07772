// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/window_traffic.h"

#include <bit>
#include <utility>

#include "protocols/flare/engine/protocol.h"

namespace tributary::flare {
namespace {

// After so many tries the switch is taken to be gone.
constexpr std::uint32_t tries_max = 3;

}  // namespace

WindowTraffic::WindowTraffic(traffic::TreePlan plan, const traffic::Stations& stations,
                             PacketPool& pool)
    : BlockTraffic(plan.block_timeout, plan.jobs),
      plan_(std::move(plan)),
      stations_(stations),
      places_(plan_, stations.ports()),
      pool_(pool),
      windows_(plan_.jobs) {
  for (auto& window : windows_) {
    window.blocks.resize(std::bit_ceil(std::size_t{plan_.window}));
  }
}

bool WindowTraffic::is_of_flare(const engine::Frame& frame) {
  return engine_kind.protocol.claims(frame) &&
         frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header);
}

std::optional<std::uint32_t> WindowTraffic::find_job(const engine::Frame& frame,
                                                     std::uint32_t job) const {
  const std::uint32_t number = job - plan_.first_job;
  const bool is_ours = number < plan_.jobs &&
                       frame.ipv4->destination == wire::Ipv4Address(plan_.group.value() + number);
  return is_ours ? std::optional(number) : std::nullopt;
}

bool WindowTraffic::is_in_flight(std::uint32_t job, std::uint64_t number) const {
  const auto& block = windows_[job].blocks[place_of(number)];
  return block.open && block.number == number;
}

bool WindowTraffic::has_contribution() {
  is_sending_ = is_sending_ && (!again_ || seek_waiting(windows_[sending_]));
  return BlockTraffic::has_contribution();
}

bool WindowTraffic::begin_blocks(std::size_t number) {
  part_ = 0;
  return begin_again(windows_[number]) || begin_next(windows_[number]);
}

// Goes on to the next rank that waits for the block; returns false if none does any more.
bool WindowTraffic::seek_waiting(Window& window) {
  const auto& block = block_at(window, turn_.first);
  while (block.open && block.number == turn_.first && turn_.rank < plan_.workers) {
    if ((block.waiting & bit(turn_.rank)) != 0) {
      return true;
    }
    part_ = 0;
    ++turn_.rank;
  }
  return false;
}

bool WindowTraffic::begin_again(Window& window) {
  for (auto number = window.oldest; window.overdue != 0 && number != window.next; ++number) {
    auto& block = block_at(window, number);
    if (block.open && block.overdue) {
      block.overdue = false;
      --window.overdue;
      ++block.tries;
      turn_ = {number, 1, 0, 0};
      again_ = true;
      return seek_waiting(window);
    }
  }
  return false;
}

bool WindowTraffic::begin_next(Window& window) {
  turn_ = {window.next, 0, 0, 0};
  again_ = false;
  while (may_begin() && turn_.count < plan_.interleave &&
         window.next - window.oldest < plan_.window) {
    block_at(window, window.next) = {opened(plan_.workers), window.next};
    ++turn_.count;
    ++window.next;
  }
  return turn_.count > 0;
}

WindowTraffic::Contribution WindowTraffic::next_contribution(Time now) {
  auto packet = pool_.allocate();
  if (packet == nullptr) {
    return {};
  }
  const auto job = static_cast<std::uint32_t>(sending_);
  const auto rank = turn_.rank;
  auto& block = block_at(windows_[job], turn_.first + turn_.place);
  write({job, block.number, rank, part_, again_}, *packet);
  block.since = now;
  figures_.retransmissions += again_ ? 1 : 0;
  if (++part_ == parts_of(job)) {
    end_contribution(block);
  }
  return {std::move(packet), places_.port_of(job, rank)};
}

void WindowTraffic::end_contribution(Block& block) {
  part_ = 0;
  if (again_) {
    ++turn_.rank;
  } else {
    ++block.sent;
    is_sending_ = turn_.advance(plan_.workers);
  }
}

void WindowTraffic::take_result(std::uint32_t job, std::uint32_t rank, std::uint64_t number,
                                Time now) {
  auto& window = windows_[job];
  auto& block = block_at(window, number);
  if (note_result(block, block.number == number, rank) && block.waiting == 0) {
    if (block.tries == 0 && !block.overdue) {
      count_done(block, now);
    }
    close_block(window, block);
  }
}

void WindowTraffic::close_block(Window& window, Block& block) {
  window.overdue -= block.overdue ? 1 : 0;
  mark_closed(block);
  while (window.oldest != window.next && !block_at(window, window.oldest).open) {
    ++window.oldest;
  }
}

void WindowTraffic::note_overdue(Window& window, Block& block) {
  if (block.tries == tries_max) {
    common_.given_up += is_of_trial(block) ? 1 : 0;
    close_block(window, block);
    return;
  }
  figures_.overdue += is_of_trial(block) && block.tries == 0 ? 1 : 0;
  block.overdue = true;
  ++window.overdue;
}

void WindowTraffic::expire(Time now, traffic::Outbox& /*out*/) {
  if (!looks_now(now)) {
    return;
  }
  for (auto& window : windows_) {
    for (auto number = window.oldest; number != window.next; ++number) {
      auto& block = block_at(window, number);
      if (block.open && !block.overdue && block.sent == plan_.workers &&
          is_overdue(block.since, now)) {
        note_overdue(window, block);
      }
    }
  }
}

std::vector<traffic::Figure> WindowTraffic::figures() const {
  return {{"results_received", common_.results},
          {"sums_received", figures_.sums},
          {"answers_sent", figures_.answers},
          {"inquiries_received", figures_.inquiries},
          {"retransmissions_sent", figures_.retransmissions},
          {"blocks_overdue", figures_.overdue},
          {"blocks_given_up", common_.given_up},
          {"duplicates", common_.duplicates},
          {"invalid", common_.invalid}};
}

}  // namespace tributary::flare
