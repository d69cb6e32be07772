// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator_state.h"

#include <algorithm>
#include <utility>

#include "host/call_check.h"
#include "host/probe.h"
#include "host/text.h"
#include "host/tuning/measurement.h"

namespace tributary {
namespace {

using host::By;
using host::Call;
using host::Collective;
using host::exact::Manner;

}  // namespace

Result<void> Communicator::State::select(const host::Deadline& until) {
  const bool hosts_alone = host::are_hosts_alone(options.algorithm);
  const auto choice =
      hosts_alone ? host::choose_ring(options, job().id) : carrier->find_out(*ring, until);
  if (!choice) {
    return tl::make_unexpected(choice.error());
  }
  algorithm = choice->algorithm;
  only_ring = algorithm == host::ring_algorithm;
  ring->cut_by(job().payload_bytes);  // less, perhaps, than the ranks had agreed on
  if (options.fallback == Fallback::error) {
    carrier->require_switches();
  }
  if (carrier) {
    ring->look_beside([this] { return carrier->hear(); });
  }
  selected = true;
  fallback = choice->fallback;
  notify(fallback.empty() ? host::LogLevel::notice : host::LogLevel::warn,
         choice->notice + (options.reproducible ? "; sums are reproducible" : ""));
  if (auto tuned = may_tune() ? tune(until) : Result<void>(); !tuned) {
    return tuned;
  }
  if (!host::tuning::may_double(options)) {
    ring->double_up_to(0);
  }
  return {};
}

// Tells whether hosts may take over what they do faster; the answer is the same on all ranks. They
// never take over what only switches may do, nor sums that leave out ranks that are late.
bool Communicator::State::may_tune() const {
  return options.algorithm == host::automatic_algorithm && !only_ring &&
         options.fallback == Fallback::allow && !may_lack_ranks();
}

std::vector<PartialResult> host::LastResult::seen(const std::vector<PartialResult>& partial) const {
  std::vector<PartialResult> seen;
  for (const auto& [begin, count, missing] : partial) {
    const auto from = std::max(begin, first);
    const auto to = std::min(begin + count, end);
    if (carried && from < to) {
      seen.push_back({from - first, to - from, missing});
    }
  }
  return seen;
}

bool Communicator::State::may_lack_ranks() const {
  const auto& protocol = *host::protocol_of(options);
  return protocol.partial != nullptr && protocol.partial(options);
}

Result<void> Communicator::State::tune(const host::Deadline& until) {
  const auto measured =
      host::tuning::measure(carrier->runner(), *ring, host::tuning::time_allowed(options), until);
  if (!measured) {
    return fail(measured.error().code, "ranks could not measure how fast switches and hosts are: " +
                                           measured.error().message +
                                           "; TRIBUTARY_TUNE=off does without");
  }
  // By doubling, products of floats have other bits, and what was measured differs between runs.
  if (options.reproducible) {
    plan = host::tuning::Plan(measured->costs, host::doubling_bytes_max);
  } else {
    plan = host::tuning::Plan(measured->costs);
    ring->double_up_to(plan.doubling_up_to());
  }
  tuned_for = measured->taken;
  if (!measured->failure.empty()) {
    give_up_measuring(measured->failure);
  }
  if (tuned_for != host::Duration{}) {
    notify(host::LogLevel::info, host::who(options, job().id) + "measured for " +
                                     host::milliseconds_text(tuned_for) + ", allreduces go by " +
                                     plan.text(algorithm) + " (" + measured->text(algorithm) + ")");
  }
  return {};
}

// The failure is one on all ranks.
void Communicator::State::give_up_measuring(const std::string& failure) {
  const auto why = "measuring " + algorithm + " ended: " + failure;
  only_ring = !carrier->survives_failures();
  if (only_ring) {
    fallback = why;
    algorithm = host::ring_algorithm;
  }
  notify(host::LogLevel::warn, host::who(options, job().id) +
                                   (only_ring ? "ring, the hosts reduce alone: "
                                              : algorithm + " carries allreduces of all sizes: ") +
                                   why);
}

void Communicator::State::notify(host::LogLevel level, const std::string& line) const {
  if (level <= log_level) {
    tell(line);
  }
}

void Communicator::State::tell(const std::string& line) const {
  host::tell(options, line);
}

Result<void> Communicator::State::run_recorded(By by, const Call& call) {
  return recorded(name(call), by, host::is_countable(call.buffers) ? call.buffers.bytes() : 0,
                  [&] { return run_by(by, call); });
}

Result<void> Communicator::State::run(const Call& call) {
  const auto by = means_for(call);
  return run_counted(by, call, is_by_plan(by, call));
}

Result<void> Communicator::State::run_counted(By by, const Call& call, bool by_plan) {
  auto done = run_recorded(by, call);
  if (!is_alone()) {
    const bool needs_order = manner_of(call) == Manner::by_ring;
    const auto what = needs_order                 ? "products of floats that are to be reproducible"
                      : host::needs_handler(call) ? "handlers"
                                                  : name(call);
    count(by, what, done.has_value(), by_plan);
  }
  return done;
}

// `what` names the kind of collective, for the reason why the ring has it.
void Communicator::State::count(By by, std::string_view what, bool succeeded, bool by_plan) {
  if (largest_piece != nullptr) {
    return;
  }
  if (!succeeded) {
    ++failures;
    return;
  }
  ++(by == By::ring ? collectives_by_ring : collectives_by_carrier);
  collectives_by_plan += by_plan ? 1 : 0;
  if (by == By::ring && log_level == host::LogLevel::info) {
    ++reasons[why_by_ring(what, by_plan)];
  }
}

std::string Communicator::State::why_by_ring(std::string_view what, bool by_plan) const {
  if (by_plan) {
    return std::string(what) + " of a size for which the hosts were faster than " + algorithm;
  }
  if (only_ring) {
    return fallback.empty() ? "as asked for" : fallback;
  }
  return std::string(what) + ", which " + algorithm + " does not carry here";
}

Figures Communicator::State::general_figures() const {
  std::vector<Figure> figures;
  for (const auto& one : host::algorithms()) {
    std::string by(one.name);
    std::replace(by.begin(), by.end(), '-', '_');
    const auto count = one.name == host::ring_algorithm ? collectives_by_ring
                       : one.name == algorithm          ? collectives_by_carrier
                                                        : 0;
    figures.push_back({"collectives_by_" + by, count});
  }
  figures.push_back({"collectives_by_plan", collectives_by_plan});
  const auto tuned_us = std::chrono::duration_cast<std::chrono::microseconds>(tuned_for).count();
  figures.push_back({"tuned_us", static_cast<std::uint64_t>(tuned_us), Merge::same});
  figures.push_back({"plan", tuned_us == 0 ? "" : plan.text(algorithm), Merge::same});
  figures.push_back({"sketch_bytes", sketched.sent});
  figures.push_back({"sketch_bytes_of_floats", sketched.of_floats});
  return Figures(std::move(figures));
}

// Chooses the ring only where it has to carry the call.
By Communicator::State::means_able(const Call& call) const {
  const bool needs_ring = manner_of(call) == Manner::by_ring;
  const bool is_taken = machine || (carrier && carrier->takes(host::countable(call)));
  return only_ring || needs_ring || !is_taken ? By::ring : By::carrier;
}

// Tells whether hosts are faster, for calls whose time follows from what was measured and whose sum
// may come either way.
bool Communicator::State::hosts_are_faster(const Call& call) const {
  const bool is_alike =
      call.collective == Collective::allreduce || call.collective == Collective::barrier;
  return is_alike && !host::needs_handler(call) &&
         (options.reproducible || !carrier || !carrier->orders(call.buffers)) &&
         plan.by_hosts(host::countable(call).buffers.bytes());
}

By Communicator::State::means_for(const Call& call) const {
  return hosts_are_faster(call) ? By::ring : means_able(call);
}

// Where sums may lack ranks, it goes by what leaves nobody out.
By Communicator::State::means_for_all(const Call& call) const {
  return may_lack_ranks() ? means_for_gather(call.buffers.count) : means_for(call);
}

// What carries a barrier leaves nobody out, and carries vectors of any length. The plan is asked
// about elements of a usual size: a rank that refuses a gather knows how many there are, but not
// their bytes.
By Communicator::State::means_for_gather(std::size_t elements) const {
  const bool hosts_are_faster = plan.by_hosts(elements * sizeof(float));
  return hosts_are_faster ? By::ring : means_able(Call{Collective::barrier, {}, 0});
}

// Tells whether the ring has the call because it is faster, though the carrier could carry it.
bool Communicator::State::is_by_plan(By by, const Call& call) const {
  return by == By::ring && hosts_are_faster(call) && means_able(call) == By::carrier;
}

Manner Communicator::State::manner_of(const Call& call) const {
  return options.reproducible ? host::exact::manner_of(call) : Manner::as_it_is;
}

}  // namespace tributary
