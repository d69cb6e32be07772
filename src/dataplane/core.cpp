// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/core.h"

#include <algorithm>
#include <cfenv>
#include <ctime>
#include <sys/prctl.h>

#include "dataplane/driver_memory.h"

namespace tributary::dataplane {
namespace {

constexpr Duration quiet_after = std::chrono::microseconds(200);

Time read_clock() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Time(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace

Core::Core(const CoreSetup& setup, const control::DaemonConfig& config, const Devices& devices)
    : setup_(setup),
      pool_(setup.mempool),
      bell_(setup.rings->bell(setup.core)),
      handover_(*setup.rings, setup.core, setup.cores, pool_),
      idle_(config.idle),
      mailbox_(&bell_),
      ports_(setup, pool_, config, devices) {
  status_.cpu = setup.cpu;
  for (std::size_t s = 0; s < config.switches.size(); ++s) {
    const auto& section = config.switches[s].config;
    auto& share = shares_.emplace_back();
    share.owners = switching::Owners(section, setup.cores);
    share.logical = std::make_unique<switching::Switch>(
        section, switching::CoreShare{setup.core, setup.cores}, pool_, (*setup.gauges)[s]);
    share.logical->announce();
    share.refused_from.resize(section.ports.size());
    share.deadline = share.logical->deadline();
  }
  departing_.reserve(setup.topology->ports.size());
  output_.departures.reserve(setup.topology->ports.size());
  inputs_.reserve(ports_.size() + 1);  // and the bell
}

Core::~Core() = default;

void Core::stop() {
  stop_.store(true, std::memory_order_relaxed);
  bell_.ring();
}

void Core::run() {
  std::fesetenv(FE_DFL_ENV);      // whatever the thread that started this one has loaded
  prctl(PR_SET_TIMERSLACK, 1UL);  // nanosecond, so that sleeps end when they should
  auto& pulse = (*setup_.pulses)[setup_.core].busy;
  const DriverUser user(setup_.core);
  while (!stop_.load(std::memory_order_relaxed)) {
    const Time now = read_clock();
    user.between_bursts();
    mailbox_.serve(now);
    const bool worked = round(now);
    ++status_.loops;
    if (worked) {
      ++status_.busy_loops;
      woken_in_vain_ = false;
      if (!pulse.load(std::memory_order_relaxed)) {
        pulse.store(true, std::memory_order_relaxed);
      }
    }
    const Duration sleep = worked
                               ? idle_.after_round(true, now, never)
                               : idle_.after_round(false, now, earliest_deadline(), longest_rest());
    if (sleep > Duration::zero()) {
      if (sleep >= quiet_after) {
        pulse.store(false, std::memory_order_relaxed);
      }
      user.leave();
      rest(sleep);
      user.come_back();
    }
  }
}

bool Core::round(Time now) {
  // Ports go first as well: choices of an up-port look at what the lines have not yet sent.
  bool worked = run_ports(now);
  worked |= receiving_ && !handover_.congested() && receive_from_devices(now);
  worked |= receive_from_cores(now);
  depart(now);  // frames that other cores sent go before anything is chosen
  worked |= run_switches(now);
  depart(now);
  worked |= run_ports(now);
  handover_.flush(refused_);
  account_refused();
  return worked;
}

bool Core::receive_from_devices(Time now) {
  bool worked = false;
  for (auto& home : ports_) {
    if (home.receive(pool_, now, ready_)) {
      worked = true;
      deliver(home.place().switch_index);
    }
  }
  return worked;
}

bool Core::receive_from_cores(Time now) {
  if (setup_.cores == 1) {
    return false;
  }
  PacketList arrivals;
  const bool worked = handover_.receive(arrivals) > 0;
  while (auto packet = arrivals.pop()) {
    const auto tag = packet->driver_tag;
    switch (kind_of(tag)) {
      case HandoverKind::receive:
        shares_[index_of(tag)].inbox.push(std::move(packet));
        break;
      case HandoverKind::merge:
        shares_[index_of(tag)].partial_sums.push(std::move(packet));
        break;
      case HandoverKind::depart:
        // This core sends even if another one is to send by now: the cores learn that one after the
        // other.
        departing_.push(index_of(tag), std::move(packet));
        break;
      case HandoverKind::arrive:
        arrive(*ports_.find(index_of(tag)), std::move(packet), now);
        break;
      case HandoverKind::learn: {
        auto& share = shares_[index_of(tag)];
        share.logical->learn(*packet, now);
        share.deadline = share.logical->deadline();
        break;
      }
    }
  }
  return worked;
}

bool Core::run_switches(Time now) {
  bool worked = false;
  for (auto& share : shares_) {
    const bool packets = !share.inbox.empty() || !share.partial_sums.empty();
    if (packets) {
      take_in(share, now);
      share.deadline = share.logical->deadline();
    }
    if (share.deadline <= now) {
      share.logical->expire(now, output_);
      share.deadline = share.logical->deadline();
    } else if (!packets) {
      continue;
    }
    worked |= packets || !output_.departures.empty();
    settle(share, now);
  }
  return worked;
}

void Core::take_in(Share& share, Time now) {
  if (!share.inbox.empty()) {
    share.logical->receive(std::move(share.inbox), now, output_);
  }
  if (!share.partial_sums.empty()) {
    share.logical->merge(std::move(share.partial_sums), now, output_);
  }
}

bool Core::run_ports(Time now) {
  bool worked = false;
  for (auto& home : ports_) {
    if (!home.due(now)) {
      continue;
    }
    home.poll_arrivals(now, ready_);
    worked |= !ready_.empty();
    deliver(home.place().switch_index);
    worked |= home.send(now, crossing_);
    cross_link(home, now);
  }
  return worked;
}

// A frame arrives from the far end of an internal link.
void Core::arrive(HomePort& home, PacketPtr packet, Time now) {
  home.arrive(std::move(packet), now, ready_);
  deliver(home.place().switch_index);
}

// Gives what is in ready_ to this core's share of the switch, or to the core that owns it.
void Core::deliver(std::uint32_t switch_index) {
  auto& share = shares_[switch_index];
  if (setup_.cores == 1) {
    share.inbox.append(std::move(ready_));
    return;
  }
  for (const auto* frame = ready_.front(); frame != nullptr; frame = frame->next) {
    frame->prefetch();
  }
  while (auto packet = ready_.pop()) {
    const auto owner = share.owners.core_of(*packet, setup_.core);
    if (owner == setup_.core) {
      share.inbox.push(std::move(packet));
    } else {
      hand_over(std::move(packet), owner, handover_tag(HandoverKind::receive, switch_index));
    }
  }
}

void Core::settle(Share& share, Time now) {
  const auto switch_index = static_cast<std::uint32_t>(&share - shares_.data());
  output_.departures.drain([&](std::uint32_t port, PacketList run) {
    route(setup_.topology->number(switch_index, static_cast<PortIndex>(port)), std::move(run));
  });
  if (!output_.table_updates.empty()) {
    send_table_updates(switch_index);
  }
  if (!output_.controls.empty()) {
    tell_ports(switch_index, now);
  }
  hand_over(output_.passed_on, handover_tag(HandoverKind::receive, switch_index));
  hand_over(output_.partial_sums, handover_tag(HandoverKind::merge, switch_index));
}

// MAC control frames of neighbours came in by queues of this core, which obey them.
void Core::tell_ports(std::uint32_t switch_index, Time now) {
  while (const auto frame = output_.controls.pop()) {
    if (auto* home = ports_.find(setup_.topology->number(switch_index, frame->ingress))) {
      home->obey(*frame, now);
    }
  }
}

void Core::send_table_updates(std::uint32_t switch_index) {
  const auto tag = handover_tag(HandoverKind::learn, switch_index);
  const unsigned last = setup_.core + 1 == setup_.cores ? setup_.cores - 2 : setup_.cores - 1;
  while (auto update = output_.table_updates.pop()) {
    for (unsigned other = 0; other < last; ++other) {
      if (other == setup_.core) {
        continue;
      }
      // A table update that cannot be copied is learned from a later packet.
      if (auto copy = pool_.clone(*update)) {
        hand_over(std::move(copy), other, tag);
      }
    }
    hand_over(std::move(update), last, tag);
  }
}

// Departures of a switch go to the queue of this core, or to the core that sends for the port.
void Core::route(std::uint32_t number, PacketList run) {
  const auto sender = ports_.sender(number);
  if (sender == setup_.core) {
    departing_.append(number, std::move(run));
    return;
  }
  while (auto packet = run.pop()) {
    hand_over(std::move(packet), sender, handover_tag(HandoverKind::depart, number));
  }
}

void Core::depart(Time now) {
  departing_.drain([&](std::uint32_t number, PacketList run) {
    ports_.find(number)->depart(std::move(run), now);
  });
}

// A frame that left the queue of one end arrives at the other.
void Core::cross_link(const HomePort& home, Time now) {
  const auto peer = home.place().peer;
  while (auto packet = crossing_.pop()) {
    if (auto* far = ports_.find(peer)) {
      arrive(*far, std::move(packet), now);
    } else {
      hand_over(std::move(packet), setup_.topology->ports[peer].cores.front(),
                handover_tag(HandoverKind::arrive, peer));
    }
  }
}

void Core::hand_over(PacketPtr packet, unsigned to, std::uint32_t tag) {
  packet->driver_tag = tag;
  handover_.send(std::move(packet), to, refused_);
}

void Core::hand_over(PacketRuns& by_core, std::uint32_t tag) {
  by_core.drain([&](std::uint32_t to, PacketList run) {
    while (auto packet = run.pop()) {
      hand_over(std::move(packet), to, tag);
    }
  });
}

// A received packet that never reached a switch enters its ledger here. So does a partial sum,
// whose packets the ledger of its switch has absorbed. A departure was accounted for by its switch,
// and a table update is a copy.
void Core::account_refused() {
  while (auto packet = refused_.pop()) {
    const auto tag = packet->driver_tag;
    const auto kind = kind_of(tag);
    ++status_.handover_full;
    status_.handover_lost += kind == HandoverKind::depart || kind == HandoverKind::arrive;
    if (kind == HandoverKind::receive) {
      auto& share = shares_[index_of(tag)];
      ++share.handover.received;
      share.handover.drop(DropReason::handover_full);
      ++share.refused_from[packet->ingress];
    } else if (kind == HandoverKind::merge) {
      auto& ledger = shares_[index_of(tag)].handover;
      ++ledger.originated;
      ledger.lose(DropReason::handover_full);
    }
  }
}

Time Core::earliest_deadline() const {
  Time earliest = ports_.deadline();
  for (const auto& share : shares_) {
    earliest = std::min(earliest, share.deadline);
  }
  return earliest;
}

control::CoreStatus Core::status() const {
  auto status = status_;
  status.handed_over = handover_.handed_over();
  return status;
}

void Core::stop_receiving() {
  receiving_ = false;
  ports_.end_receiving();
  for (auto& share : shares_) {
    share.logical->withdraw();
    share.deadline = share.logical->deadline();
  }
}

bool Core::queues_empty() const {
  return handover_.empty() && ports_.idle();
}

void Core::pause(std::uint32_t number, bool paused) {
  ports_.pause(number, paused);
}

void Core::set_port_up(std::uint32_t number, bool up) {
  const auto& place = setup_.topology->ports[number];
  auto& share = shares_[place.switch_index];
  share.logical->set_port_up(place.port, up);
  share.deadline = share.logical->deadline();
  ports_.set_up(number, up);
}

void Core::reconfigure(const control::DaemonConfig& config) {
  for (std::size_t s = 0; s < shares_.size(); ++s) {
    const auto& section = config.switches[s].config;
    shares_[s].owners = switching::Owners(section, setup_.cores);
    shares_[s].logical->reconfigure(section);
    shares_[s].deadline = shares_[s].logical->deadline();
  }
  ports_.reconfigure(config);
}

}  // namespace tributary::dataplane
