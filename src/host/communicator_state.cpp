// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator_state.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "host/call_check.h"
#include "host/probe.h"

namespace tributary {
namespace {

using host::By;
using host::Call;
using host::Collective;
using host::Time;
using host::exact::Manner;

}  // namespace

Result<void> Communicator::State::select(Time until) {
  const bool hosts_alone = host::are_hosts_alone(options.algorithm);
  if (options.algorithm != host::ring_algorithm) {
    if (auto attending = carrier->attend(); !attending) {
      return attending;
    }
  }
  const auto choice =
      hosts_alone ? host::choose_ring(options, job().id) : carrier->find_out(*ring, until);
  if (!choice) {
    return tl::make_unexpected(choice.error());
  }
  algorithm = choice->algorithm;
  only_ring = algorithm == host::ring_algorithm;
  if (options.fallback == Fallback::error) {
    carrier->require_switches();
  }
  selected = true;
  fallback = choice->fallback;
  notify(fallback.empty() ? host::LogLevel::notice : host::LogLevel::warn,
         choice->notice + (options.reproducible ? "; sums are reproducible" : ""));
  return {};
}

void Communicator::State::notify(host::LogLevel level, const std::string& line) const {
  if (level <= log_level) {
    tell(line);
  }
}

void Communicator::State::tell(const std::string& line) const {
  if (options.on_notice) {
    options.on_notice(line);
  } else if (options.rank == 0) {
    std::fprintf(stderr, "tributary: %s\n", line.c_str());
  }
}

Result<void> Communicator::State::run_recorded(By by, const Call& call) {
  const auto& [in, out, count, type, op] = call.buffers;
  const bool sound = wire::is_valid(type, op) && count <= host::elements_max;  // is looked at later
  return recorded(name(call), by, sound ? call.buffers.bytes() : 0,
                  [&] { return run_by(by, call); });
}

Result<void> Communicator::State::run(const Call& call) {
  return run_counted(means_for(call), call);
}

Result<void> Communicator::State::run_counted(By by, const Call& call) {
  auto done = run_recorded(by, call);
  if (!is_alone()) {
    const bool needs_order = manner_of(call) == Manner::by_ring;
    const auto what = needs_order                 ? "products of floats that are to be reproducible"
                      : host::needs_handler(call) ? "handlers"
                                                  : name(call);
    count(by, what, done.has_value());
  }
  return done;
}

// `what`: of those that may be left to the ring.
void Communicator::State::count(By by, std::string_view what, bool succeeded) {
  if (!succeeded) {
    ++failures;
    return;
  }
  ++(by == By::ring ? collectives_by_ring : collectives_by_carrier);
  if (by == By::ring && log_level == host::LogLevel::info) {
    ++reasons[why_by_ring(what)];
  }
}

std::string Communicator::State::why_by_ring(std::string_view what) const {
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
  figures.push_back({"sketch_bytes", sketch_bytes});
  figures.push_back({"sketch_bytes_of_floats", sketch_bytes_of_floats});
  return Figures(std::move(figures));
}

By Communicator::State::means_for(const Call& call) const {
  const bool needs_ring = manner_of(call) == Manner::by_ring;
  const bool is_taken = machine || (carrier && carrier->takes(call));
  return only_ring || needs_ring || !is_taken ? By::ring : By::carrier;
}

// What carries a barrier leaves nobody out.
By Communicator::State::means_for_all() const {
  return means_for(Call{Collective::barrier, {}, 0});
}

Manner Communicator::State::manner_of(const Call& call) const {
  return options.reproducible ? host::exact::manner_of(call) : Manner::as_it_is;
}

}  // namespace tributary
