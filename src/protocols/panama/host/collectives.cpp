// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/collectives.h"

#include <algorithm>

#include "host/path_search.h"
#include "wire/key.h"

namespace tributary::host {
namespace {

// So many inquiries may wait for an answer; whoever asked for more asks again.
constexpr std::size_t panama_asked_max = 1024;

// In the arithmetic of sequence numbers (RFC 1982).
bool is_newer(std::uint32_t epoch, std::uint32_t other) {
  return static_cast<std::int32_t>(epoch - other) > 0;
}

std::uint64_t salt_of(const Job& job, std::size_t tree) {
  const auto rank = wire::mix_key((std::uint64_t{job.id} << 32) | job.rank, 1);
  return wire::mix_key(rank, tree);
}

}  // namespace

PanamaCollectives::PanamaCollectives(Job job, PanamaPlan plan, const PanamaTuning& tuning,
                                     std::uint32_t first_epoch)
    : job_(std::move(job)),
      plan_(std::move(plan)),
      zeros_(job_.payload_bytes),
      absence_(job_.world_size()),
      run_(panama_run(job_.key)),
      next_epoch_(first_epoch),
      missed_epoch_(first_epoch - 1) {
  for (const auto& group : plan_.trees) {
    trees_.emplace_back(plan_, tuning, salt_of(job_, trees_.size()));
    statistics_.trees.push_back({.group = to_string(group)});
  }
  set_quorum(plan_.quorum == 0 ? job_.world_size() : plan_.quorum);
}

void PanamaCollectives::set_quorum(std::uint32_t quorum) {
  plan_.quorum = quorum;
  own_mask_.assign(partial() ? wire::rank_mask_bytes(job_.world_size()) : 0, std::byte{0});
  if (partial()) {
    wire::set_rank(own_mask_, job_.rank, true);
  }
  const auto window = std::max(plan_.window_max, CongestionWindow::initial);
  retention_.clear();
  for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
    retention_.emplace_back(window, partial(), job_.payload_bytes);
  }
}

void PanamaCollectives::skip(const Call& call) {
  next_epoch_ += Reduction(call, job_.rank).is_empty() ? 0 : 1;
}

void PanamaCollectives::begin(const Call& call, Time now, const Deadline& deadline) {
  forget_failure();
  absence_.begin();
  mismatches_before_ = statistics_.ignored[Verdict::mismatch];
  below_quorum_ = 0;
  running_ = !Reduction(call, job_.rank).is_empty();
  if (!running_) {
    return;
  }
  abandoned_ = false;
  epoch_ = next_epoch_++;
  const bool is_behind = !is_newer(epoch_, missed_epoch_);
  missed_epoch_ = is_behind ? missed_epoch_ : epoch_;
  key_ = key_of_call(job_.key, epoch_);
  chunks_ =
      PanamaChunks(call, job_.rank, job_.payload_bytes, static_cast<std::uint32_t>(trees_.size()));
  for (std::uint32_t tree = 0; tree < trees_.size(); ++tree) {
    trees_[tree].begin(chunks_.count_in(tree));
    retention_[tree].begin(epoch_);
  }
  turn_ = 0;
  deadline_ = deadline;
  deadline_.begin(now);
  auto early = std::exchange(stash_, {});
  for (auto& one : early) {
    const Arrival arrival{one.bytes, one.ecn};
    receive({&arrival, 1}, now);
  }
  if (is_behind) {
    std::for_each(trees_.begin(), trees_.end(), [](PanamaTree& tree) { tree.leave_out(); });
  }
}

void PanamaCollectives::receive(std::span<const Arrival> burst, Time now) {
  for (const auto& arrival : burst) {
    statistics_.bytes_received += arrival.bytes.size();
    statistics_.ignored.count(examine(arrival, now));
  }
  if (running_ && has_all_results()) {
    finish();
  }
}

void PanamaCollectives::abandon() {
  running_ = false;
  abandoned_ = true;
  for (auto& tree : retention_) {
    tree.drop();
  }
}

// Others may lack results yet, and the buffers are the caller's again.
void PanamaCollectives::finish() {
  running_ = false;
  retaining_ = true;
  for (auto& tree : retention_) {
    tree.settle();
  }
}

bool PanamaCollectives::has_all_results() const {
  return std::all_of(trees_.begin(), trees_.end(),
                     [](const PanamaTree& tree) { return tree.finished(); });
}

Verdict PanamaCollectives::examine(const Arrival& arrival, Time now) {
  const auto view = wire::parse_panama(arrival.bytes);
  if (view.error != wire::PanamaError::none) {
    return Verdict::malformed;
  }
  const auto& header = *view.header;
  if (header.job.value() != job_.id || header.kind == wire::PanamaKind::aggregation ||
      header.tree.value() >= trees_.size()) {
    return Verdict::foreign;
  }
  if (header.run.value() != run_) {
    return Verdict::stale;
  }
  if (header.kind == wire::PanamaKind::inquiry) {
    return note_inquiry(header);
  }
  if (header.epoch.value() == next_epoch_) {
    return stash(arrival);
  }
  if (!running_ || header.epoch.value() != epoch_) {
    note_missed(header.epoch.value());
    return Verdict::stale;
  }
  return take_result(view, arrival.ecn == wire::ecn::ce, now);
}

// Others go on without this rank where results may lack somebody, by as many epochs as switches
// remember unless numbers jump. A packet of an epoch beyond, which may be anybody's, would have
// this rank ask for everything from now on.
void PanamaCollectives::note_missed(std::uint32_t epoch) {
  const std::uint32_t newest = next_epoch_ - 1 + wire::panama_epochs_kept;
  if (partial() && is_newer(epoch, missed_epoch_) && !is_newer(epoch, newest)) {
    missed_epoch_ = epoch;
  }
}

// Only a result that may lack somebody can be there before this rank has begun.
Verdict PanamaCollectives::stash(const Arrival& arrival) {
  if (!partial() || stash_.size() >= std::size_t{plan_.window_max} * trees_.size()) {
    return Verdict::early;
  }
  stash_.push_back({{arrival.bytes.begin(), arrival.bytes.end()}, arrival.ecn});
  ++statistics_.stashed;
  statistics_.bytes_received -= arrival.bytes.size();  // counted again when it is taken up
  return Verdict::taken;
}

// Returns whether a packet is a result: not if its fingerprint is that of others than it says, or
// if it lacks more than it may.
bool PanamaCollectives::is_result(const wire::PanamaHeader& header,
                                  const wire::RankMask& mask) const {
  const std::uint32_t contributions = header.contributions.value();
  const PanamaPlace place{run_, epoch_, header.tree.value(), header.vid.value()};
  const bool has_all = contributions == job_.world_size();
  if (contributions < plan_.quorum || (has_all && !trees_[place.tree].sent(place.vid))) {
    return false;
  }
  const auto tags = has_all ? panama_total_tag(key_, place, job_.world_size())
                            : panama_tags_in(key_, place, mask);
  return header.fingerprint.value() == tags;
}

Verdict PanamaCollectives::take_result(const wire::PanamaView& view, bool marked, Time now) {
  const auto& header = *view.header;
  const std::uint32_t index = header.tree.value();
  const auto vid = header.vid.value();
  auto& tree = trees_[index];
  if (header.workers.value() != job_.world_size() || header.has_mask() != partial() ||
      header.element_type != chunks_.type() || header.op != chunks_.op() || vid >= tree.packets() ||
      header.elements.value() != chunks_.elements(chunks_.number(index, vid))) {
    return Verdict::mismatch;
  }
  if (const auto verdict = tree.wants(vid); verdict != Verdict::taken) {
    return verdict;  // so that nobody hashes for it
  }
  if (!is_result(header, view.mask)) {
    ++statistics_.fingerprint_rejections;
    below_quorum_ += header.contributions.value() < plan_.quorum ? 1 : 0;
    return Verdict::taken;  // and counted
  }
  const bool partial = header.contributions.value() != job_.world_size();
  tree.take(vid, marked, header.wnd_cap.value(), partial, now);
  deadline_.progress(now);
  // Whoever contributed to this has begun, and so was done with the collective before.
  retaining_ = retaining_ && partial;
  auto& statistics = statistics_.trees[index];
  ++statistics.results_received;
  statistics.results_marked += marked ? 1 : 0;
  statistics_.results_partial += partial ? 1 : 0;
  statistics_.contributions_missing += job_.world_size() - header.contributions.value();
  if (partial) {
    absence_.note(chunks_.number(index, vid), view.mask);
  }
  keep({header, view.mask.bytes()}, view.payload);
  return Verdict::taken;
}

std::vector<PartialResult> PanamaCollectives::partial_results() const {
  std::vector<PartialResult> results;
  for (const auto& [first, stretch] : absence_.stretches()) {
    const std::size_t full = chunks_.elements(0);  // all packets but the last are as long
    const auto last = stretch.end - 1;
    results.push_back({first * full, (last - first) * full + chunks_.elements(last),
                       ranks_missing_in(wire::RankMask(stretch.mask), job_.world_size())});
  }
  return results;
}

void PanamaCollectives::keep(const PanamaKeptHeader& header, wire::Bytes elements) {
  const std::uint32_t index = header.tree.value();
  if (!chunks_.wants_result()) {
    return retention_[index].keep_copy(header, elements);
  }
  const auto out = chunks_.out(chunks_.number(index, header.vid.value()));
  std::copy(elements.begin(), elements.end(), out.begin());
  retention_[index].keep(header, out);
}

Verdict PanamaCollectives::note_inquiry(const wire::PanamaHeader& header) {
  if (asked_.size() >= panama_asked_max) {
    return Verdict::early;
  }
  asked_.push_back({run_, header.epoch.value(), header.tree.value(), header.vid.value()});
  return Verdict::taken;
}

// This rank lacks what it does not find here, too, so it will repeat its own contribution.
void PanamaCollectives::answer(Outbox& outbox) {
  for (; !asked_.empty() && !outbox.full(); asked_.pop_front()) {
    const auto& place = asked_.front();
    if (const auto result = retention_[place.tree].find(place.epoch, place.vid)) {
      send_up(place.tree, *result, wire::PanamaHeader::answer_bit, outbox);
      ++statistics_.answers_sent;
    }
  }
}

void PanamaCollectives::send_up(std::uint32_t tree, const PanamaRetention::Result& result,
                                std::uint8_t flags, Outbox& outbox) {
  wire::PanamaHeader header = result.header;
  header.flags &= static_cast<std::uint8_t>(
      ~(wire::PanamaHeader::retransmission_bit | wire::PanamaHeader::answer_bit));
  header.flags |= flags;
  const auto cap = std::max(trees_[tree].window().cap(), CongestionWindow::initial);
  header.wnd_cap = static_cast<std::uint16_t>(std::min<std::uint32_t>(cap, header.wnd_cap_none));
  wire::reseal(header);
  push(tree, header, result.payload, result.header.mask(), outbox);
}

// Trees take turns (4.1): one whose window is full does not hold up the others.
void PanamaCollectives::poll(Outbox& outbox, Time now) {
  answer(outbox);
  std::size_t idle = abandoned_ ? trees_.size() : 0;
  while (idle < trees_.size() && !outbox.full()) {
    const auto tree = turn_;
    turn_ = (turn_ + 1) % static_cast<std::uint32_t>(trees_.size());
    if (const auto sending = trees_[tree].next(now)) {
      send(tree, *sending, outbox);
      idle = 0;
    } else {
      ++idle;
    }
  }
}

void PanamaCollectives::send(std::uint32_t tree, const PanamaTree::Sending& sending,
                             Outbox& outbox) {
  const PanamaPlace place{run_, epoch_, tree, sending.vid};
  // If the call is in place, the result has overwritten what was to be contributed.
  if (sending.done) {
    ++statistics_.trees[tree].packets_sent;
    if (const auto result = retention_[tree].find(epoch_, sending.vid)) {
      send_up(tree, *result, 0, outbox);
    }
    return;
  }
  auto header = contribution_header(job_, key_, chunks_, place);
  const auto payload = chunks_.contribution(chunks_.number(tree, sending.vid), zeros_);
  if (sending.asks) {
    header.flags |= wire::PanamaHeader::retransmission_bit;
  }
  if (partial()) {
    header.flags |= wire::PanamaHeader::mask_bit;
  }
  seal(header, payload, own_mask_);
  auto& statistics = statistics_.trees[tree];
  ++statistics.packets_sent;
  statistics.retransmissions_sent += sending.again ? 1 : 0;
  push(tree, header, payload, own_mask_, outbox);
}

void PanamaCollectives::push(std::uint32_t tree, const wire::PanamaHeader& header,
                             wire::Bytes elements, wire::Bytes mask, Outbox& outbox) {
  static_assert(wire::rank_mask_bytes(wire::panama_masked_ranks_max) <=
                Datagram::trailer_bytes_max);
  outbox.push({plan_.trees[tree], wire::panama_udp_port}, std::as_bytes(std::span(&header, 1)),
              elements, mask, tree);
  statistics_.bytes_sent += sizeof header + elements.size() + mask.size();
}

Time PanamaCollectives::deadline() const {
  if (!running_) {
    return never;
  }
  auto first = deadline_.due();
  for (const auto& tree : trees_) {
    first = std::min(first, tree.deadline());
  }
  return first;
}

void PanamaCollectives::expire(Time now) {
  if (!running_) {
    return;
  }
  if (deadline_.passed(now)) {
    abandon();
    failure_ = Error{Error::Code::timeout, diagnose()};
    return;
  }
  for (auto& tree : trees_) {
    tree.expire(now);
  }
}

std::string PanamaCollectives::diagnose() const {
  auto text = deadline_.explain(name(chunks_.call().collective)) + ":";
  bool gave_results_before = false;
  for (std::uint32_t i = 0; i < trees_.size(); ++i) {
    const auto& tree = trees_[i];
    if (tree.finished()) {
      continue;
    }
    text += " tree " + std::to_string(i) + " (" + to_string(plan_.trees[i]) +
            ") gave no result of packet " + std::to_string(tree.base()) + " (" +
            std::to_string(tree.begun()) + " of " + std::to_string(tree.packets()) + " sent);";
    gave_results_before |= statistics_.trees[i].results_received != 0;
  }
  text += " its switches wait for a rank, or have no such tree: 'tributaryctl tree' tells which;";
  text += " or ranks call different collectives: 'tributaryctl drops' counts panama_mismatch";
  text += gave_results_before ? smaller_path : "";
  if (const auto mismatches = statistics_.ignored[Verdict::mismatch] - mismatches_before_;
      mismatches != 0) {
    text += "; " + std::to_string(mismatches) +
            " results had another type, operator or length: do all ranks call the same collective?";
  }
  if (below_quorum_ != 0) {
    text += "; " + std::to_string(below_quorum_) + " results had fewer than the " +
            std::to_string(plan_.quorum) +
            " ranks that TRIBUTARY_SHARE asks for: is it the share of the trees?";
  }
  return with_trouble(std::move(text));
}

PanamaStatistics PanamaCollectives::statistics() const {
  auto statistics = statistics_;
  statistics.missing_by_rank = absence_.by_rank();
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    auto& told = statistics.trees[i];
    const auto& window = trees_[i].window();
    told.timeouts = trees_[i].timeouts();
    told.window = window.cwnd();
    told.ssthresh = window.ssthresh();
    told.alpha = window.alpha();
    told.window_cap = window.cap();
    statistics.contributions_skipped += trees_[i].skipped();
  }
  return statistics;
}

}  // namespace tributary::host
