// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/core.h"

#include <algorithm>
#include <ctime>
#include <sys/prctl.h>

#include "dataplane/driver_memory.h"
#include "switch/flow_plan.h"

namespace tributary::dataplane {
namespace {

// With others at work, a packet may be handed over at any time: doze no longer than this.
constexpr Duration doze_max = std::chrono::microseconds(50);
constexpr Duration quiet_after = std::chrono::microseconds(200);

Time read_clock() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Time(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace

Core::Core(const Setup& setup, const control::DaemonConfig& config,
           const std::vector<std::unique_ptr<PortDevice>>& devices)
    : setup_(setup),
      pool_(setup.mempool),
      handover_(*setup.rings, setup.core, setup.cores, pool_),
      idle_(config.idle) {
  status_.cpu = setup.cpu;
  const auto& places = setup.topology->ports;
  for (std::uint32_t number = 0; number < places.size(); ++number) {
    add_port(number, config, devices[number].get());
  }
  home_.resize(places.size());
  for (auto home = ports_.rbegin(); home != ports_.rend(); ++home) {
    home_[home->number] = &*home;
  }
  choose_senders(config);
  control_flow(config);
  for (std::size_t s = 0; s < config.switches.size(); ++s) {
    auto& share = shares_.emplace_back();
    share.config = config.switches[s].config;
    share.logical = std::make_unique<switching::Switch>(
        share.config, switching::CoreShare{setup.core, setup.cores}, pool_, (*setup.gauges)[s]);
  }
  refresh_deadlines();
}

Core::~Core() = default;

void Core::add_port(std::uint32_t number, const control::DaemonConfig& config, PortDevice* device) {
  const auto& place = setup_.topology->ports[number];
  const auto& port = config.switches[place.switch_index].config.ports[place.port];
  for (std::size_t queue = 0; queue < place.cores.size(); ++queue) {
    if (place.cores[queue] == setup_.core) {
      // A gauge has one writer. Where flows are spread over the queues, one is as full as another.
      auto* gauge = queue == 0 ? &(*setup_.gauges)[place.switch_index][place.port] : nullptr;
      ports_.push_back({switching::Port(port, gauge),
                        device != nullptr ? &device->queue(queue) : nullptr, number, queue == 0,
                        &place});
    }
  }
}

void Core::choose_senders(const control::DaemonConfig& config) {
  senders_.clear();
  for (const auto& place : setup_.topology->ports) {
    const auto& port = config.switches[place.switch_index].config.ports[place.port];
    senders_.push_back(sender_of(place, has_one_owner(port), setup_.core));
  }
}

// A neighbour that is silent is not one that is dead: what waits in a device is kept as long as
// what waits in a queue.
void Core::control_flow(const control::DaemonConfig& config) {
  std::vector<forwarding::FlowPlan> plans;
  for (const auto& section : config.switches) {
    plans.push_back(switching::plan_flow_control(section.config.ports));
  }
  for (auto& home : ports_) {
    const auto s = home.place->switch_index;
    const auto& port = config.switches[s].config.ports[home.place->port];
    home.port.control_flow({(*setup_.buffers)[s], home.place->port, home.first ? &pool_ : nullptr},
                           port, plans[s]);
    if (home.queue != nullptr) {
      home.queue->set_patience(port.flow.mode == forwarding::FlowControl::off
                                   ? DeviceQueue::patience_usual
                                   : forwarding::pause_watchdog);
    }
  }
}

void Core::run() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // nanosecond: sleeps end when they should
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
      if (!pulse.load(std::memory_order_relaxed)) {
        pulse.store(true, std::memory_order_relaxed);
      }
    }
    const Duration sleep = idle_.after_round(worked, now, earliest_deadline());
    if (sleep > Duration::zero()) {
      if (sleep >= quiet_after) {
        pulse.store(false, std::memory_order_relaxed);
      }
      rest(sleep);
    }
  }
}

void Core::rest(Duration sleep) {
  const auto other_is_busy = [&](const CorePulse& pulse) {
    return &pulse != &(*setup_.pulses)[setup_.core] && pulse.busy.load(std::memory_order_relaxed);
  };
  if (std::any_of(setup_.pulses->begin(), setup_.pulses->end(), other_is_busy)) {
    sleep = std::min(sleep, doze_max);
  }
  ++status_.sleeps;
  const timespec duration = {0, static_cast<long>(sleep.count())};  // below one second
  nanosleep(&duration, nullptr);                                    // a signal only ends it early
}

bool Core::round(Time now) {
  // Ports first as well: choices of an up-port look at what the lines have not yet sent.
  bool worked = run_ports(now);
  worked |= receiving_ && !handover_.congested() && receive_from_devices(now);
  worked |= receive_from_cores(now);
  worked |= run_switches(now);
  worked |= run_ports(now);
  handover_.flush(refused_);
  account_refused();
  return worked;
}

bool Core::receive_from_devices(Time now) {
  bool worked = false;
  for (auto& home : ports_) {
    if (home.queue == nullptr || home.port.holds_back()) {
      home.port.hear(now);
      continue;
    }
    PacketList burst;
    const auto count = home.queue->receive(pool_, home.place->port, burst);
    if (count < DeviceQueue::burst) {
      home.port.hear(now);
    }
    if (count > 0) {
      worked = true;
      home.port.arrive(std::move(burst), now, ready_);
      deliver(home);
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
    switch (errand_of(tag)) {
      case Errand::receive:
        shares_[index_of(tag)].inbox.push(std::move(packet));
        break;
      case Errand::depart:
        leave(*home_[index_of(tag)], std::move(packet), now);
        break;
      case Errand::arrive:
        arrive(*home_[index_of(tag)], std::move(packet), now);
        break;
      case Errand::learn: {
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
    const bool packets = !share.inbox.empty();
    const bool due = share.deadline <= now;
    if (!packets && !due) {
      continue;
    }
    if (packets) {
      share.logical->receive(std::move(share.inbox), now, output_);
    }
    if (due || share.logical->deadline() <= now) {
      share.logical->expire(now, output_);
    }
    worked |= packets || !output_.departures.empty();
    settle(share, now);
    share.deadline = share.logical->deadline();
  }
  return worked;
}

bool Core::run_ports(Time now) {
  bool worked = false;
  for (auto& home : ports_) {
    const bool waiting = home.queue != nullptr && home.queue->waiting();
    if (home.deadline > now && !waiting && !home.port.controls_flow()) {
      continue;
    }
    home.port.poll_arrivals(now, ready_);
    worked |= !ready_.empty();
    deliver(home);
    if (home.queue != nullptr) {
      worked |= transmit(home, now);
    } else {
      home.port.dequeue(now, taken_, DeviceQueue::burst);
      worked |= !taken_.empty();
      cross_link(home, now);
    }
    home.deadline = home.port.deadline();
  }
  return worked;
}

// Burst after burst, until nothing may go or the device takes no more.
bool Core::transmit(HomePort& home, Time now) {
  bool worked = false;
  std::size_t sent = 0;
  do {
    home.port.dequeue(now, taken_, home.queue->room());
    sent = home.queue->transmit(taken_, now);
    worked |= sent > 0;
  } while (sent == DeviceQueue::burst && home.port.queue_packets() > 0);
  return worked;
}

// A frame from the cable, or from the far end of an internal link.
void Core::arrive(HomePort& home, PacketPtr packet, Time now) {
  packet->ingress = home.place->port;
  packet->egress = no_port;
  make_whole(*packet);
  home.port.arrive(PacketList(std::move(packet)), now, ready_);
  deliver(home);
}

// Gives what is in ready_ to this core's share of the port's switch, or to the core that owns it.
void Core::deliver(HomePort& home) {
  auto& share = shares_[home.place->switch_index];
  if (setup_.cores == 1) {
    share.inbox.append(std::move(ready_));
  }
  while (auto packet = ready_.pop()) {
    const auto owner = switching::owner_core(*packet, share.config, setup_.core, setup_.cores);
    if (owner == setup_.core) {
      share.inbox.push(std::move(packet));
    } else {
      hand_over(std::move(packet), owner, errand_tag(Errand::receive, home.place->switch_index));
    }
  }
  // A delayed arrival has made the port's next deadline.
  home.deadline = home.port.deadline();
}

void Core::settle(Share& share, Time now) {
  const auto switch_index = static_cast<std::uint32_t>(&share - shares_.data());
  while (auto packet = output_.departures.pop()) {
    const auto number = setup_.topology->number(switch_index, packet->egress);
    depart(number, std::move(packet), now);
  }
  if (!output_.lessons.empty()) {
    teach_others(switch_index);
  }
  if (!output_.controls.empty()) {
    tell_ports(switch_index, now);
  }
}

// What neighbours said came in by queues of this core.
void Core::tell_ports(std::uint32_t switch_index, Time now) {
  while (const auto frame = output_.controls.pop()) {
    if (auto* home = home_[setup_.topology->number(switch_index, frame->ingress)]) {
      home->port.obey(*frame, now);
      home->deadline = home->port.deadline();
    }
  }
}

void Core::teach_others(std::uint32_t switch_index) {
  const auto tag = errand_tag(Errand::learn, switch_index);
  const unsigned last = setup_.core + 1 == setup_.cores ? setup_.cores - 2 : setup_.cores - 1;
  while (auto lesson = output_.lessons.pop()) {
    for (unsigned other = 0; other < last; ++other) {
      if (other == setup_.core) {
        continue;
      }
      // A lesson that cannot be copied is learned from a later packet.
      if (auto copy = pool_.clone(*lesson)) {
        hand_over(std::move(copy), other, tag);
      }
    }
    hand_over(std::move(lesson), last, tag);
  }
}

void Core::depart(std::uint32_t number, PacketPtr packet, Time now) {
  if (senders_[number] == setup_.core) {
    leave(*home_[number], std::move(packet), now);
  } else {
    hand_over(std::move(packet), senders_[number], errand_tag(Errand::depart, number));
  }
}

// What another core handed over leaves here, also while the cores learn one after the other that
// somebody else is to send.
void Core::leave(HomePort& home, PacketPtr packet, Time now) {
  home.port.enqueue(std::move(packet), now);
  const bool takes = home.queue != nullptr && !home.queue->waiting();
  if (takes && home.port.queue_packets() >= DeviceQueue::burst) {
    transmit(home, now);  // while it is in the cache; a device that is full is not asked per packet
  }
  home.deadline = Time{};  // run_ports() looks at it in this round, and finds the next one
}

// What left the queue of one end arrives at the other.
void Core::cross_link(HomePort& home, Time now) {
  const auto peer = home.place->peer;
  while (auto packet = taken_.pop()) {
    if (auto* far = home_[peer]) {
      arrive(*far, std::move(packet), now);
    } else {
      hand_over(std::move(packet), setup_.topology->ports[peer].cores.front(),
                errand_tag(Errand::arrive, peer));
    }
  }
}

void Core::hand_over(PacketPtr packet, unsigned to, std::uint64_t tag) {
  packet->driver_tag = tag;
  handover_.send(std::move(packet), to, refused_);
}

// A received packet that never reached a switch enters its ledger here; a departure was accounted
// for by its switch, a lesson is a copy.
void Core::account_refused() {
  while (auto packet = refused_.pop()) {
    const auto tag = packet->driver_tag;
    ++status_.handover_full;
    if (errand_of(tag) == Errand::receive) {
      auto& ledger = shares_[index_of(tag)].handover;
      ++ledger.received;
      ledger.drop(DropReason::handover_full);
    }
  }
}

Time Core::earliest_deadline() const {
  Time earliest = never;
  for (const auto& home : ports_) {
    earliest = std::min(earliest, home.deadline);
  }
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
  for (auto& home : ports_) {
    home.port.hear(never - std::chrono::seconds(1));  // nothing more is heard
  }
}

bool Core::queues_empty() const {
  return handover_.empty() && std::all_of(ports_.begin(), ports_.end(), [](const HomePort& home) {
           return home.deadline == never && !(home.queue != nullptr && home.queue->waiting());
         });
}

void Core::pause(std::uint32_t number, bool paused) {
  for (auto& home : ports_) {
    if (home.number == number && home.queue != nullptr) {
      home.queue->pause(paused);
    }
  }
}

void Core::set_port_up(std::uint32_t number, bool up) {
  const auto& place = setup_.topology->ports[number];
  shares_[place.switch_index].logical->set_port_up(place.port, up);
  for (auto& home : ports_) {
    if (home.number == number) {
      home.port.set_up(up);
    }
  }
  refresh_deadlines();
}

void Core::reconfigure(const control::DaemonConfig& config) {
  for (std::size_t s = 0; s < shares_.size(); ++s) {
    shares_[s].config = config.switches[s].config;
    shares_[s].logical->reconfigure(shares_[s].config);
  }
  choose_senders(config);
  for (auto& home : ports_) {
    auto port = config.switches[home.place->switch_index].config.ports[home.place->port];
    if (senders_[home.number] != setup_.core) {
      port.queue.rate_bps = 0;  // what still waits here goes; only the owner shapes
    }
    home.port.reconfigure(port);
  }
  control_flow(config);
  refresh_deadlines();
}

void Core::refresh_deadlines() {
  for (auto& home : ports_) {
    home.deadline = home.port.deadline();
  }
  for (auto& share : shares_) {
    share.deadline = share.logical->deadline();
  }
}

}  // namespace tributary::dataplane
