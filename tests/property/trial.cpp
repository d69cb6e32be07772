// SPDX-License-Identifier: BSD-3-Clause
#include "property/trial.h"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "property/members.h"
#include "property/random_fabric.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

// Far beyond what any trial needs that makes progress.
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
    // Every rank has its own deadlines; each call may begin late.
    const auto call = std::chrono::milliseconds(shape_.deadline_ms) +
                      std::chrono::microseconds(shape_.late_us) + 1s;
    fabric_.run_while(
        [this] {
          return fabric_.frames() < frames_max &&
                 std::any_of(jobs_.begin(), jobs_.end(),
                             [](const auto& job) { return !job->finished(); });
        },
        call * static_cast<Duration::rep>(shape_.collectives));
    if (fabric_.frames() < frames_max) {
      drain();
    }
  }

  // What is still on its way arrives, and soft state ages.
  void drain() {
    fabric_.stop_strays();
    const auto age = std::chrono::milliseconds(shape_.age_ms);
    const auto root =
        std::chrono::microseconds(std::max(shape_.root_timeout_us, shape_.timeout_us));
    const auto stray = shape_.stray != 0 ? std::chrono::milliseconds(shape_.stray_ms) : 0ms;
    fabric_.run_while([this] { return fabric_.frames() < frames_max; },
                      std::max<Duration>(age, root) + stray + 2s);
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
    if (fabric_.figure_now("descriptors_in_use") != 0) {
      return "descriptors are left";
    }
    return account();
  }

  // The counters of the engines account for every packet: what became of all that came in, of all
  // contributions, of all descriptors.
  std::string account() const {
    const auto sum = [this](std::initializer_list<std::string_view> names) {
      std::uint64_t total = 0;
      for (const auto name : names) {
        total += fabric_.figure(name);
      }
      return total;
    };
    const auto taken = sum({"contributions_total", "results_total", "releases_total",
                            "restorations_total", "passed_total"});
    // A damaged frame is dropped before its engine sees it, or is somebody else's.
    if (shape_.corrupt == 0 && shape_.flaps == 0 && shape_.cuts == 0 &&
        fabric_.claimed() != taken + canary_drops()) {
      return std::to_string(fabric_.claimed()) + " packets came in, " + std::to_string(taken) +
             " were taken and " + std::to_string(canary_drops()) + " dropped";
    }
    const auto contributions =
        sum({"blocks_total", "joined_total", "stragglers_total", "collisions_total",
             "children_overflows_total", "accumulator_overflows_total", "quota_job_total",
             "quota_port_total", "partition_none_total"});
    if (contributions != fabric_.figure("contributions_total")) {
      return std::to_string(fabric_.figure("contributions_total")) +
             " contributions were counted, " + std::to_string(contributions) + " by their fates";
    }
    const auto begun = fabric_.figure("blocks_total");
    const auto freed = sum(
        {"results_total", "releases_total", "aged_total", "reclaimed_total", "superseded_total"});
    if (shape_.restarts == 0 && begun != freed) {
      return std::to_string(begun) + " descriptors were taken and " + std::to_string(freed) +
             " freed";
    }
    return {};
  }

  std::string drops() const {
    Ledger sum;
    for (const auto& ledger : fabric_.ledgers()) {
      sum += ledger;
    }
    std::string text;
    for (std::size_t i = 0; i < drop_reason_count; ++i) {
      if (const auto count = sum.drops[i] + sum.losses[i]; count != 0) {
        text += " " + std::string(drop_reason_names[i]) + "=" + std::to_string(count);
      }
    }
    return text;
  }

  std::uint64_t canary_drops() const {
    std::uint64_t total = 0;
    for (const auto& ledger : fabric_.ledgers()) {
      for (std::size_t i = 0; i < drop_reason_count; ++i) {
        const auto reason = drop_reason_names[i];
        total += reason.starts_with("canary_") || reason == "local_unserved" ? ledger.drops[i] : 0;
      }
    }
    return total;
  }

  Outcome outcome() {
    Outcome outcome;
    outcome.fault = fault();
    outcome.digest = fabric_.digest();
    outcome.frames = fabric_.frames();
    outcome.drops = drops();
    for (const auto& job : jobs_) {
      const auto tally = job->tally();
      outcome.longest = std::max(outcome.longest, tally.longest);
      outcome.succeeded += tally.succeeded;
      outcome.failed += tally.failed;
      outcome.switch_sums += tally.statistics.switch_sums_seen;
      outcome.requests += tally.statistics.requests_sent;
      outcome.reissues += tally.statistics.failures_sent;
      outcome.direct_blocks += tally.statistics.blocks_by_hosts;
      outcome.collisions += tally.statistics.collisions_received;
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
    for (std::uint64_t i = 0; i < shape_.deaths; ++i) {
      auto& job = *jobs_.front();
      const auto rank = static_cast<std::uint32_t>(random_() % job.world_size());
      fabric_.at(some_time(), [&job, rank] { job.kill(rank); });
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
