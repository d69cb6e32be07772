// SPDX-License-Identifier: BSD-3-Clause
#include "property/trial.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include "property/accounts.h"
#include "property/members.h"
#include "property/random_fabric.h"
#include "protocols/engines.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

// Far more frames than a trial that makes progress needs.
constexpr std::uint64_t frames_max = 4'000'000;

class Trial {
 public:
  Trial(const Shape& shape, HeapPacketPool& pool)
      : shape_(shape),
        fabric_(make_fabric(shape), &pool),
        random_(stream_of(shape.seed, Stream::events)) {
    for (std::uint32_t job = 0; job < shape.jobs; ++job) {
      jobs_.push_back(std::make_unique<Members>(fabric_, shape, job));
    }
    plan_events();
  }

  VirtualFabric& fabric() { return fabric_; }

  void run() {
    // Every rank has its own deadlines, and each call may begin late.
    const auto call = std::chrono::milliseconds(shape_.deadline_ms) +
                      std::chrono::microseconds(shape_.late_us) + suspended() + 1s;
    fabric_.run_while(
        [this] {
          return fabric_.frames() < frames_max &&
                 std::any_of(jobs_.begin(), jobs_.end(),
                             [](const auto& job) { return !job->finished(); });
        },
        call * static_cast<Duration::rep>((1 + shape_.collectives) * shape_.runs));
    if (fabric_.frames() < frames_max) {
      drain();
    }
  }

  // The total time for which ranks may be suspended, one after the other.
  Duration suspended() const {
    return std::chrono::milliseconds(shape_.suspended * shape_.outage_ms);
  }

  // Packets that are still on their way arrive, a rank that wakes up sends its remaining packets,
  // and soft state ages.
  void drain() {
    fabric_.stop_strays();
    const auto age = std::chrono::milliseconds(shape_.age_ms);
    const auto root =
        std::chrono::microseconds(std::max(shape_.root_timeout_us, shape_.timeout_us));
    // After this silence PANAMA and Flare release the results that they keep for repeats.
    const auto silence = shape_.panama + shape_.flare != 0 ? 12s : 0s;
    const auto stray = shape_.stray != 0 ? std::chrono::milliseconds(shape_.stray_ms) : 0ms;
    fabric_.run_while([this] { return fabric_.frames() < frames_max; },
                      std::max<Duration>({age, root, silence}) + stray + suspended() + 2s);
  }

  std::string fault() {
    for (const auto& job : jobs_) {
      if (const auto fault = job->fault(); !fault.empty()) {
        return fault;
      }
    }
    if (fabric_.frames() >= frames_max) {
      return "frames without end";
    }
    for (const auto& ledger : fabric_.ledgers()) {
      if (!ledger.balanced()) {
        return "a ledger does not balance";
      }
    }
    if (auto fault = find_canary_discrepancy(fabric_, shape_); !fault.empty()) {
      return fault;
    }
    if (auto fault = find_panama_discrepancy(fabric_, shape_, succeeded(is_panama));
        !fault.empty()) {
      return fault;
    }
    if (auto fault = find_netreduce_discrepancy(fabric_, shape_, succeeded(is_netreduce));
        !fault.empty()) {
      return fault;
    }
    return find_flare_discrepancy(fabric_, shape_, succeeded(is_flare));
  }

  // Whether all jobs of a kind succeeded.
  bool succeeded(bool (*is_one)(const Shape& shape, std::uint32_t job)) const {
    for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
      if (is_one(shape_, job) && !jobs_[job]->all_succeeded()) {
        return false;
      }
    }
    return true;
  }

  std::string drops() const {
    Ledger sum;
    for (const auto& ledger : fabric_.ledgers()) {
      sum += ledger;
    }
    std::string text;
    for (const auto& [reason, name] : protocols::drop_reasons()) {
      if (const auto count = sum.dropped(reason) + sum.lost(reason); count != 0) {
        text += " " + name + "=" + std::to_string(count);
      }
    }
    return text;
  }

  Outcome outcome() {
    Outcome outcome;
    outcome.fault = fault();
    outcome.digest = fabric_.digest();
    outcome.frames = fabric_.frames();
    outcome.drops = drops();
    outcome.panama_sums = fabric_.figure("sums_total", "panama");
    outcome.panama_replays = fabric_.figure("replays_total", "panama");
    outcome.netreduce_sums = fabric_.figure("sums_total", "netreduce");
    outcome.netreduce_answered = fabric_.figure("answered_total", "netreduce");
    outcome.flare_sums = fabric_.figure("sums_total", "flare");
    outcome.flare_replays = fabric_.figure("replays_total", "flare");
    outcome.flare_inquiries = fabric_.figure("inquiries_sent_total", "flare");
    for (const auto& job : jobs_) {
      const auto tally = job->tally();
      outcome.longest = std::max(outcome.longest, tally.longest);
      outcome.succeeded += tally.succeeded;
      outcome.failed += tally.failed;
      outcome.switch_sums += tally.canary.switch_sums_seen;
      outcome.requests += tally.canary.requests_sent;
      outcome.reissues += tally.canary.failures_sent;
      outcome.direct_blocks += tally.canary.blocks_by_hosts;
      outcome.collisions += tally.canary.collisions_received;
      outcome.panama_repeats += tally.panama_repeats;
      outcome.panama_partial += tally.panama_partial;
      outcome.netreduce_repeats += tally.roce_repeats;
      outcome.flare_repeats += tally.flare_repeats;
      if (!outcome.fault.empty()) {
        outcome.state += job->state();
      }
    }
    return outcome;
  }

 private:
  Time some_time() {
    const auto span = shape_.event_ms * 1000 + 1;
    return fabric_.now() + std::chrono::microseconds(random_() % span);
  }

  void plan_events() {
    for (std::uint64_t i = 0; i < shape_.restarts; ++i) {
      const auto which = random_() % fabric_.switch_count();
      fabric_.at(some_time(), [this, which] { fabric_.restart_switch(which); });
    }
    const auto links = fabric_.links();
    for (std::uint64_t i = 0; i < shape_.flaps + shape_.cuts && !links.empty(); ++i) {
      const auto end = links[random_() % links.size()];
      const auto when = some_time();
      fabric_.at(when, [this, end] { fabric_.set_link_up(end, false); });
      const auto back = std::chrono::microseconds(random_() % (shape_.flap_ms * 1000 + 1));
      if (i < shape_.flaps) {
        fabric_.at(when + back, [this, end] { fabric_.set_link_up(end, true); });
      }
    }
    plan_outages();
    for (std::uint64_t i = 0; i < shape_.deaths; ++i) {
      const bool of_any = shape_.netreduce + shape_.flare != 0;
      auto& job = *jobs_[of_any ? random_() % jobs_.size() : 0];
      const auto rank = static_cast<std::uint32_t>(random_() % job.world_size());
      fabric_.at(some_time(), [&job, rank] { job.kill(rank); });
    }
  }

  void plan_outages() {
    const auto some_span = [this] {
      return std::chrono::microseconds(random_() % (shape_.outage_ms * 1000 + 1));
    };
    const auto cables = fabric_.cables();
    for (std::uint64_t i = 0; i < shape_.outages; ++i) {
      const auto end = cables[random_() % cables.size()];
      const auto when = some_time();
      fabric_.at(when, [this, end] { fabric_.set_link_up(end, false); });
      fabric_.at(when + some_span(), [this, end] { fabric_.set_link_up(end, true); });
    }
    for (std::uint64_t i = 0; i < shape_.suspended; ++i) {
      const auto host = random_() % fabric_.host_count();
      const auto when = some_time();
      const auto until = when + some_span();
      fabric_.at(when, [this, host, until] { fabric_.suspend(host, until); });
    }
  }

  const Shape& shape_;
  VirtualFabric fabric_;
  Random random_;
  std::vector<std::unique_ptr<Members>> jobs_;
};

}  // namespace

Outcome run_trial(const Shape& shape, HeapPacketPool& pool, std::function<void(const Hop&)> trace) {
  Outcome outcome;
  try {
    Trial trial(shape, pool);
    trial.fabric().trace(std::move(trace));
    trial.run();
    outcome = trial.outcome();
  } catch (const std::exception& error) {
    outcome.fault = error.what();
  }
  if (outcome.fault.empty() && pool.outstanding() != 0) {
    outcome.fault = "packets leak";
  }
  return outcome;
}

}  // namespace tributary::test
