// SPDX-License-Identifier: BSD-3-Clause
#include "host/canary_allreduce.h"

#include <string>
#include <utility>

namespace tributary::host {
namespace {

// An answer goes to the address that a contribution names; only unicast makes sense there.
bool is_plausible_host(wire::Ipv4Address address) {
  return !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast();
}

bool is_answerable(const wire::CanaryHeader& header, wire::Encapsulation encapsulation) {
  if (encapsulation == wire::Encapsulation::udp &&
      !wire::is_canary_udp_port(header.child_port.value())) {
    return false;
  }
  return is_plausible_host(header.child_address) &&
         (!header.bypass() || is_plausible_host(header.switch_ipv4));
}

}  // namespace

CanaryAllreduce::CanaryAllreduce(Job job, std::uint32_t first_id)
    : job_(std::move(job)),
      worker_(job_),
      leader_(job_),
      progress_(job_.window),
      next_id_(first_id) {}

void CanaryAllreduce::begin(const Buffers& buffers, Time deadline) {
  blocks_ = Blocks(buffers, job_, next_id_);
  next_id_ += blocks_.count();
  progress_.begin(blocks_.count());
  worker_.begin();
  leader_.begin(blocks_);
  deadline_ = deadline;
  failure_.reset();
  trouble_.clear();
  running_ = !progress_.finished();
  if (!running_) {
    return;  // nothing to reduce: what is stashed belongs to the next one
  }
  auto early = std::exchange(stash_, {});
  for (auto& datagram : early) {
    receive(datagram);
  }
}

void CanaryAllreduce::receive(wire::MutableBytes datagram) {
  statistics_.bytes_received += datagram.size();
  count(examine(datagram));
  if (running_ && leader_.failure()) {
    stop(leader_.failure());
  }
}

Verdict CanaryAllreduce::examine(wire::MutableBytes datagram) {
  const auto view = wire::parse_canary(datagram, job_.encapsulation);
  if (view.error != wire::CanaryError::none) {
    return Verdict::malformed;
  }
  const auto& header = *view.header;
  if (header.job.value() != job_.id || header.destination != job_.self().address ||
      header.kind == wire::CanaryKind::restoration) {
    return Verdict::foreign;
  }
  return dispatch(header, view.payload, datagram);
}

Verdict CanaryAllreduce::dispatch(const wire::CanaryHeader& header, wire::Bytes payload,
                                  wire::MutableBytes datagram) {
  const auto block = blocks_.block_of(header.id.value());
  if (!running_ || block >= blocks_.count()) {
    return stash(header, datagram);
  }
  if (header.kind == wire::CanaryKind::result) {
    const auto verdict = worker_.take_result(header, payload, block, blocks_, progress_);
    statistics_.results_received += verdict == Verdict::taken ? 1 : 0;
    return verdict;
  }
  if (blocks_.leader(block) != job_.rank) {
    return Verdict::foreign;
  }
  if (!is_answerable(header, job_.encapsulation)) {
    return Verdict::malformed;
  }
  if (progress_.done(block)) {
    return Verdict::duplicate;
  }
  if (block >= progress_.base() + progress_.span()) {
    return Verdict::early;
  }
  const auto verdict = leader_.take(header, payload, block, blocks_);
  if (verdict == Verdict::taken) {
    ++statistics_.contributions_received;
    statistics_.collisions_received += header.bypass() ? 1 : 0;
  }
  return verdict;
}

// Only contributions can be early: nobody has the result of a block without this rank's data.
Verdict CanaryAllreduce::stash(const wire::CanaryHeader& header, wire::MutableBytes datagram) {
  const auto block = header.id.value() - next_id_;
  if (block >= progress_.span()) {
    return Verdict::stale;
  }
  if (header.kind != wire::CanaryKind::contribution || block % job_.world_size() != job_.rank) {
    return Verdict::foreign;
  }
  // Direct contributions of all others to all blocks that fit into a window.
  const std::size_t others = job_.world_size() - 1;
  if (stash_.size() >= (progress_.span() / job_.world_size() + 1) * others) {
    return Verdict::early;
  }
  stash_.emplace_back(datagram.begin(), datagram.end());
  ++statistics_.stashed;
  statistics_.bytes_received -= datagram.size();  // counted again when it is taken up
  return Verdict::taken;
}

void CanaryAllreduce::count(Verdict verdict) {
  switch (verdict) {
    case Verdict::taken:
      break;
    case Verdict::malformed:
      ++statistics_.ignored_malformed;
      break;
    case Verdict::foreign:
      ++statistics_.ignored_foreign;
      break;
    case Verdict::stale:
      ++statistics_.ignored_stale;
      break;
    case Verdict::duplicate:
      ++statistics_.ignored_duplicate;
      break;
    case Verdict::mismatch:
      ++statistics_.ignored_mismatch;
      break;
    case Verdict::early:
      ++statistics_.ignored_early;
      break;
  }
}

void CanaryAllreduce::poll(Outbox& outbox) {
  if (!running_) {
    return;
  }
  const auto before = outbox.size();
  leader_.poll(blocks_, progress_, outbox);  // first: these unblock others
  worker_.poll(blocks_, progress_, outbox);
  for (auto i = before; i < outbox.size(); ++i) {
    count_sent(outbox.at(i));
  }
  if (progress_.finished()) {
    stop(std::nullopt);
  }
}

void CanaryAllreduce::count_sent(const Datagram& datagram) {
  statistics_.bytes_sent += sizeof datagram.header + datagram.payload.size();
  switch (datagram.header.kind) {
    case wire::CanaryKind::contribution:
      ++statistics_.contributions_sent;
      break;
    case wire::CanaryKind::result:
      ++statistics_.results_sent;
      break;
    case wire::CanaryKind::restoration:
      ++statistics_.restorations_sent;
      break;
  }
}

void CanaryAllreduce::expire(Time now) {
  if (running_ && now >= deadline_) {
    stop(Error{Error::Code::timeout, what_is_missing()});
  }
}

void CanaryAllreduce::stop(std::optional<Error> failure) {
  running_ = false;
  failure_ = std::move(failure);
}

std::string CanaryAllreduce::describe(std::uint32_t block) const {
  const auto leader = blocks_.leader(block);
  auto text = "block " + std::to_string(block) + " (led by rank " + std::to_string(leader) + "): ";
  if (leader != job_.rank) {
    return text + "no result";
  }
  const auto expected = job_.world_size() - 1;
  return text + std::to_string(expected - leader_.contributions(block)) + " of " +
         std::to_string(expected) + " contributions missing";
}

std::string CanaryAllreduce::what_is_missing() const {
  constexpr std::size_t shown_max = 4;
  std::string led;
  std::string others;
  std::size_t led_shown = 0;
  std::size_t others_shown = 0;
  std::size_t unfinished = 0;
  for (auto block = progress_.base(); block < progress_.limit(); ++block) {
    if (progress_.done(block)) {
      continue;
    }
    ++unfinished;
    const bool mine = blocks_.leader(block) == job_.rank;
    auto& shown = mine ? led_shown : others_shown;
    if (shown < shown_max) {
      ++shown;
      (mine ? led : others) += describe(block) + "; ";
    }
  }
  // What this rank led comes first: there it is known how much is missing.
  auto text = "allreduce did not finish by its deadline: " + led + others;
  text += std::to_string(unfinished) + " of " + std::to_string(blocks_.count()) +
          " blocks in flight, " + std::to_string(progress_.base()) + " done in sequence";
  if (statistics_.ignored_mismatch != 0) {
    text += "; " + std::to_string(statistics_.ignored_mismatch) +
            " packets had another type, operator or length: do all ranks call the same allreduce?";
  }
  if (!trouble_.empty()) {
    text += "; " + trouble_;
  }
  return text;
}

}  // namespace tributary::host
