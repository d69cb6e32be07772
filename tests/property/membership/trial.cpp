// SPDX-License-Identifier: BSD-3-Clause
#include "property/membership/trial.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "property/membership/agenda.h"
#include "property/membership/desk.h"
#include "property/membership/process.h"
#include "property/membership/wires.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using host::Time;

// Longer than silences, late messages and the longest patience together.
constexpr auto time_to_settle = 15s;
constexpr host::Duration calm_patience = 20s;
constexpr auto time_to_meet = 180s;
constexpr int looks_every = 64;  // steps, for a fault
constexpr std::uint64_t sums_of_who_has_met = 2;

class Trial {
 public:
  Trial(const MembershipShape& shape, const std::function<void(const std::string&)>& trace)
      : shape_(shape), trace_(trace), random_(shape.seed), wires_(shape_, agenda_) {
    for (std::uint64_t i = 0; i < shape_.keepers; ++i) {
      desks_.push_back(nullptr);
      start_keeper(i);
    }
  }

  MembershipOutcome run() {
    plan();
    run_until(start_ + span());
    calm_down();
    run_until_all_have_met();
    found_anew();
    return outcome();
  }

 private:
  host::Duration span() const { return std::chrono::milliseconds(shape_.span_ms); }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::size_t any_keeper() { return below(desks_.size()); }
  Time any_time() { return start_ + std::chrono::microseconds(below(shape_.span_ms * 1000)); }

  void start_keeper(std::size_t keeper) {
    if (desks_[keeper] != nullptr) {
      say("keeper " + std::to_string(keeper) + " starts anew");
      wires_.close(*desks_[keeper]);
    }
    const auto name = "keeper " + std::to_string(keeper) + ": ";
    all_desks_.push_back(std::make_unique<Desk>(
        secret(), [this](auto id, const auto& bytes) { wires_.tell(id, bytes); },
        [this, name](const auto& line) { say(name + line); }));
    desks_[keeper] = all_desks_.back().get();
  }
  std::string secret() const { return shape_.secret != 0 ? "a secret" : ""; }

  // Returns an address that no process has any more, or that none ever had.
  host::Endpoint any_address() {
    const auto nth = [](std::uint64_t n) {
      return host::Endpoint{wire::Ipv4Address(0x0a000001u + static_cast<std::uint32_t>(n)), 17000};
    };
    for (std::uint64_t n = 0; below(4) != 0 && n < addresses_; ++n) {
      if (wires_.at(nth(n)) == nullptr) {
        return nth(n);
      }
    }
    return nth(addresses_++);
  }

  Process& start_process(std::size_t keeper, Process::Birth birth) {
    birth.id = next_id_++;
    birth.address = any_address();
    birth.secret = secret();
    birth.patience =
        is_calm_ ? calm_patience : std::chrono::milliseconds(1 + below(shape_.patience_ms));
    processes_.push_back({std::make_unique<Process>(shape_, wires_, birth), desks_[keeper]});
    auto& process = *processes_.back().process;
    wires_.connect(process, *desks_[keeper]);
    return process;
  }
  void found(std::size_t keeper, std::uint64_t world_size) {
    for (std::uint32_t rank = 0; rank < world_size; ++rank) {
      Process::Birth birth;
      birth.rank = rank;
      birth.world_size = static_cast<std::uint32_t>(world_size);
      start_process(keeper, birth);
    }
  }
  void join(std::size_t keeper) {
    Process::Birth birth;
    birth.joins = true;
    birth.world_size = 1;
    birth.options = below(10) == 0 ? 1 : 0;
    start_process(keeper, birth);
    if (below(2) == 0) {
      disturb([this](Process& member) { member.want(any_wish()); });
    }
  }
  std::uint32_t any_wish() {
    const auto size = static_cast<std::uint32_t>(1 + below(shape_.founders + shape_.wish));
    return below(2) == 0 ? 0 : size;
  }

  template <typename Action>
  void repeat(std::uint64_t count, Action action) {
    for (; count > 0; --count) {
      agenda_.at(any_time(), action);
    }
  }
  // Acts on a process that has not ended.
  template <typename Action>
  void disturb(Action action) {
    std::vector<Process*> alive;
    for (const auto& one : processes_) {
      if (!one.process->is_over()) {
        alive.push_back(one.process.get());
      }
    }
    if (!alive.empty()) {
      auto& process = *alive[below(alive.size())];
      action(process);
      process.step();
    }
  }

  void plan() {
    for (std::size_t keeper = 0; keeper < desks_.size(); ++keeper) {
      agenda_.in(std::chrono::milliseconds(below(10)),
                 [this, keeper] { found(keeper, shape_.founders); });
    }
    repeat(shape_.joins, [this] { join(any_keeper()); });
    repeat(shape_.foundings, [this] { found(any_keeper(), 1 + below(3)); });
    repeat(shape_.restarts, [this] { start_keeper(any_keeper()); });
    repeat(shape_.deaths, [this] { disturb([](Process& one) { one.kill(); }); });
    repeat(shape_.leaves, [this] { disturb([](Process& one) { one.retire(); }); });
    repeat(shape_.hangs, [this] { disturb([](Process& one) { one.hang(); }); });
    repeat(shape_.regroups, [this] { disturb([this](Process& one) { one.want(any_wish()); }); });
    repeat(shape_.silences,
           [this] { disturb([this](Process& one) { wires_.silence(one.birth().id); }); });
    repeat(shape_.tampered,
           [this] { disturb([this](Process& one) { wires_.tamper(one.birth().id); }); });
    repeat(shape_.freezes, [this] {
      disturb([this](Process& one) {
        one.freeze(agenda_.now() + std::chrono::milliseconds(below(shape_.freeze_ms + 1)));
      });
    });
    repeat(shape_.strangers,
           [this] { wires_.connect_stranger(next_id_++, *desks_[any_keeper()], secret()); });
  }

  // Ends all disturbances. When keepers have noticed the earlier ones, all processes regroup.
  void calm_down() {
    is_calm_ = true;
    wires_.calm_down();
    for (const auto& one : processes_) {
      one.process->freeze(agenda_.now());
    }
    step_all();
    run_until(agenda_.now() + time_to_settle);
    for (const auto& one : processes_) {
      one.process->calm_down(calm_patience);
    }
    step_all();
  }
  void step_all() {
    for (const auto& one : processes_) {
      one.process->step();
    }
  }

  void run_until_all_have_met() {
    const auto latest = agenda_.now() + time_to_meet;
    while (fault().empty() && !all_have_met() && agenda_.now() < latest) {
      run_until(std::min(agenda_.now() + 100ms, latest));
    }
    if (!all_have_met()) {
      blame("not all who are left have met:" + state_text());
    }
  }
  bool all_have_met() const {
    for (auto* const desk : desks_) {
      const auto& members = desk->model().members();
      const auto alive = std::ranges::count_if(processes_, [&](const Citizen& one) {
        return one.desk == desk && !one.process->is_over();
      });
      if (static_cast<std::size_t>(alive) != members.size()) {
        return false;
      }
    }
    return std::ranges::all_of(processes_, [&](const Citizen& one) {
      const auto& process = *one.process;
      return process.is_over() || (process.is_working() && is_served(one.desk) &&
                                   process.epoch() == one.desk->model().epoch() &&
                                   process.sums_in_epoch() >= sums_of_who_has_met);
    });
  }
  bool is_served(const Desk* desk) const { return std::ranges::find(desks_, desk) != desks_.end(); }

  // When all processes are gone, a new world can be founded.
  void found_anew() {
    for (const auto& one : processes_) {
      if (!one.process->is_over()) {
        one.process->kill();
      }
    }
    run_until(agenda_.now() + time_to_settle);
    for (std::size_t keeper = 0; keeper < desks_.size(); ++keeper) {
      found(keeper, 2);
    }
    run_until_all_have_met();
    const auto working = std::ranges::count_if(
        processes_, [](const Citizen& one) { return one.process->is_working(); });
    if (static_cast<std::size_t>(working) != 2 * desks_.size()) {
      blame("no new world could be founded:" + state_text());
    }
  }

  void run_until(Time until) {
    for (int steps = 0; agenda_.step(until); ++steps) {
      if (steps % looks_every == 0 && !fault().empty()) {
        return;
      }
    }
  }

  // The first one.
  std::string fault() const {
    auto fault = fault_;
    for (const auto& one : processes_) {
      fault = fault.empty() ? one.process->fault() : fault;
    }
    for (const auto& desk : all_desks_) {
      fault = fault.empty() ? desk->fault() : fault;
    }
    return fault;
  }
  void blame(const std::string& what) {
    if (fault().empty()) {
      fault_ = what;
    }
  }
  void say(const std::string& line) const {
    if (trace_) {
      const auto passed = std::chrono::duration<double, std::milli>(agenda_.now() - start_);
      trace_(std::to_string(passed.count()) + " ms: " + line);
    }
  }
  std::string state_text() const {
    std::string text;
    for (const auto& one : processes_) {
      text += one.process->is_over() ? "" : "\n    " + one.process->state_text();
    }
    return text;
  }

  // Checks that no process has received what no keeper sent.
  void check_words() {
    for (const auto& one : processes_) {
      const auto& heard = one.process->heard();
      const auto same = [](const host::Word& a, const host::Word& b) {
        return a.kind == b.kind && a.body == b.body;
      };
      if (heard.empty() || wires_.is_changed(one.process->birth().id)) {
        continue;
      }
      const auto& said = one.desk->said_to(one.process->birth().id);
      if (heard.size() > said.size() ||
          !std::equal(heard.begin(), heard.end(), said.begin(), same)) {
        blame("process " + std::to_string(one.process->birth().id) +
              " has heard what was not said");
      }
    }
  }

  MembershipOutcome outcome() {
    check_words();
    MembershipOutcome outcome;
    outcome.fault = fault();
    outcome.processes = processes_.size();
    for (const auto& one : processes_) {
      outcome.sums += one.process->sums();
      outcome.errors += one.process->errors();
      outcome.regroupings += one.process->regroupings();
    }
    for (const auto& desk : all_desks_) {
      outcome.memberships += desk->memberships().size();
    }
    outcome.digest = wires_.digest();
    return outcome;
  }

  struct Citizen {
    std::unique_ptr<Process> process;
    const Desk* desk = nullptr;
  };

  MembershipShape shape_;
  const std::function<void(const std::string&)>& trace_;
  std::mt19937_64 random_;
  Agenda agenda_;
  Wires wires_;
  const Time start_ = agenda_.now();
  std::vector<std::unique_ptr<Desk>> all_desks_;
  std::vector<Desk*> desks_;  // of the keepers that serve
  std::vector<Citizen> processes_;
  ProcessId next_id_ = 1;
  std::uint64_t addresses_ = 0;
  bool is_calm_ = false;
  std::string fault_;
};

}  // namespace

MembershipOutcome run_membership_trial(const MembershipShape& shape,
                                       const std::function<void(const std::string&)>& trace) {
  return Trial(shape, trace).run();
}

}  // namespace tributary::test
