// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port.h"

#include "forwarding/codepoint.h"
#include "forwarding/flow_plan.h"
#include "forwarding/traffic_class.h"

namespace tributary::forwarding {

Port::Port(const PortConfig& config, QueueGauge* gauge)
    : impair_in_(config.impair_in),
      impair_out_(config.impair_out),
      queue_(config.queue),
      gauge_(gauge),
      from_kernel_(config.from_kernel),
      trusts_tags_(config.trusts_tags) {
  publish_queue(config);
}

PacketList Port::with_markings(PacketList burst) {
  PacketList marked;
  while (auto frame = burst.pop()) {
    trust_tag(*frame);
    marked.push(std::move(frame));
  }
  return marked;
}

void Port::pass_in(PacketList burst, Time now, PacketList& ready) {
  while (auto frame = burst.pop()) {
    impair_in_.pass(std::move(frame), now, ready);
  }
}

void Port::pass_out(PacketPtr packet, Time now) {
  PacketList ready;
  make_whole(*packet);
  impair_out_.pass(std::move(packet), now, ready);
  enqueue_all(std::move(ready), now);
}

void Port::enqueue_all(PacketList frames, Time now) {
  while (auto frame = frames.pop()) {
    queue_.enqueue(std::move(frame), now);
  }
}

PacketList Port::pass(PacketList& run, std::size_t max) {
  const bool is_open = up_ && !impair_out_.active();
  const auto bytes = is_open ? queue_.passing_bytes(run, max) : 0;
  if (bytes == 0) {
    return {};
  }
  auto passing = run.take(max);
  counters_.tx_offered += passing.size();
  counters_.tx_packets += passing.size();
  counters_.tx_bytes += bytes;
  return passing;
}

void Port::poll_arrivals(Time now, PacketList& ready) {
  if (impair_in_.active()) {
    impair_in_.poll(now, ready);
  }
}

void Port::control_flow(const FlowPlace& place, const PortConfig& config, const FlowPlan& plan) {
  queue_.guard(place.buffers, place.port, plan);
  if (!plan.active()) {
    flow_ = nullptr;
  } else if (flow_ == nullptr) {
    flow_ = std::make_unique<PortFlow>(place, config, plan);
  } else {
    flow_->reconfigure(config, plan);
  }
}

void Port::obey(const Packet& frame, Time now) {
  ++counters_.rx_pauses;
  if (const auto pause = wire::parse_pause(frame.bytes()); pause && flow_ != nullptr) {
    flow_->obey(*pause, now);
    queue_.watch(now);
  }
}

void Port::tend_flow(Time now) {
  queue_.watch(now);
  if (auto frame = up_ ? flow_->speak(now) : nullptr) {
    ++counters_.tx_pauses;
    enqueue(std::move(frame), now);
  }
}

void Port::dequeue(Time now, PacketList& out, std::size_t max) {
  if (flow_ != nullptr) {
    tend_flow(now);
  }
  if (impair_out_.active()) {
    PacketList ready;
    impair_out_.poll(now, ready);
    enqueue_all(std::move(ready), now);
  }
  const auto packets_before = queue_.packets();
  const auto bytes_before = queue_.bytes();
  queue_.dequeue(now, out, max);
  counters_.tx_packets += packets_before - queue_.packets();
  counters_.tx_bytes += bytes_before - queue_.bytes();
  publish_bytes();
}

void Port::set_up(bool up) {
  up_ = up;
  if (!up) {
    counters_.link_down_dropped += queue_.packets() + impair_out_.packets();
    impair_out_.clear();
    queue_.clear();
    publish_bytes();
    if (flow_ != nullptr) {
      flow_->reset();
    }
  }
}

void Port::reconfigure(const PortConfig& config) {
  impair_in_.configure(config.impair_in);
  impair_out_.configure(config.impair_out);
  queue_.configure(config.queue);
  trusts_tags_ = config.trusts_tags;
  publish_queue(config);
}

void Port::clear() {
  impair_in_.clear();
  impair_out_.clear();
  queue_.clear();
  publish_bytes();
}

// The queue may have other classes than before: what waited in those that are gone waits elsewhere.
void Port::publish_queue(const PortConfig& config) {
  if (gauge_ == nullptr) {
    return;
  }
  publish_limits(config);
  const auto classes = std::max<std::size_t>(config.queue.classes.size(), 1);
  for (auto traffic_class = classes; traffic_class < traffic_classes_max; ++traffic_class) {
    gauge_->publish_bytes(0, traffic_class);
  }
  publish_bytes();
}

void Port::publish_limits(const PortConfig& config) {
  const auto line_bps = line_rate(config);
  const auto capacity_bytes = config.queue.capacity_bytes;
  const auto& classes = config.queue.classes;
  if (classes.empty()) {
    gauge_->publish_capacity(capacity_bytes);
    gauge_->publish_rate(line_bps);
  }
  for (std::size_t traffic_class = 0; traffic_class < classes.size(); ++traffic_class) {
    const auto& one = classes[traffic_class];
    gauge_->publish_capacity(class_capacity(one, classes, capacity_bytes), traffic_class);
    gauge_->publish_rate(one.rate_bps > 0 ? std::min(one.rate_bps, line_bps) : line_bps,
                         traffic_class);
  }
}

PortCounters Port::counters() const {
  auto counters = counters_;
  counters.queue_tail_dropped = queue_.tail_dropped();
  counters.queue_ecn_marked = queue_.ecn_marked();
  counters.pause_dropped = queue_.pauses().dropped;
  counters.paused_ns = static_cast<std::uint64_t>(queue_.pauses().paused.count());
  for (const auto* impairment : {&impair_in_, &impair_out_}) {
    const auto& from = impairment->counters();
    counters.impaired_lost += from.lost;
    counters.impaired_duplicated += from.duplicated;
    counters.impaired_reordered += from.reordered;
    counters.impaired_corrupted += from.corrupted;
    counters.impaired_delayed += from.delayed;
  }
  return counters;
}

}  // namespace tributary::forwarding
