// SPDX-License-Identifier: BSD-3-Clause
// This part of a communicator says what it did when it ends, and waits for the other ranks.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>
#include <thread>

#include "host/communicator_state.h"
#include "host/journal/conclusion.h"
#include "host/journal/report.h"
#include "host/text.h"

namespace tributary {
namespace {

using host::Buffers;
using host::Clock;

// A destructor waits so long for the others'. When one of them is gone, it goes on answering for
// the grace, which is as long as the longest pause between two requests of a worker.
constexpr auto finalize_timeout = std::chrono::seconds(2);
constexpr auto finalize_grace = std::chrono::milliseconds(500);
constexpr auto finalize_pause = std::chrono::milliseconds(10);

// A destructor throws nothing, though on_notice may, or memory may be full. Less is said then.
template <typename Run>
void quietly(Run run) {
  try {
    run();
  } catch (...) {
    return;
  }
}

}  // namespace

Communicator::State::~State() {
  if (elastic && !regrouped) {
    elastic->member->watch(0,
                           nullptr);  // the first rank through the last barrier ends it for all
  }
  end();
}

void Communicator::State::end() {
  quietly([this] { report(); });
  quietly([this] { conclude(); });
  quietly([this] { finalize(); });
}

// Rank 0 alone tells the report: whoever asked for it looks there.
void Communicator::State::report() {
  if (!journal || !journal->has_report()) {
    return;
  }
  const auto lived = Clock::now() - created;
  const auto ranks = times_in_collectives();
  if (options.rank != 0) {
    return;
  }
  const auto statistics = carried();
  const auto title =
      "communicator of " + std::to_string(options.world_size) + " ranks by " + algorithm;
  for (const auto& line :
       host::report_of(journal->tallies(), {title, lived, ranks, statistics, sketched})) {
    tell(line);
  }
}

// Every rank that has somebody to tell says what it has done. What goes between machines, the
// communicator of these says.
void Communicator::State::conclude() {
  const bool in_memory = machine && machine->known().job == 0;  // there is no other machine
  if ((!selected && !in_memory) || log_level != host::LogLevel::info ||
      (!options.on_notice && options.rank != 0)) {
    return;
  }
  const auto lived = Clock::now() - created;
  const auto title = host::rank_text(options.rank) + " of " + std::to_string(options.world_size);
  const auto statistics = carried();
  host::Conclusion conclusion{
      title,   lived,      algorithm, collectives_by_carrier, collectives_by_ring, failures,
      reasons, statistics, sketched};
  if (in_memory) {
    tell(host::conclusion_in_memory(conclusion));
    return;
  }
  conclusion.title = "job " + std::to_string(job().id) + ", " + title;
  tell(host::conclusion_of(conclusion));
}

// Returns how long each rank was in collectives; empty if the ranks cannot be asked any more.
std::vector<host::Duration> Communicator::State::times_in_collectives() {
  if ((!ring && !machine) || failed) {
    return {};
  }
  std::vector<std::int64_t> times(options.world_size);
  times[options.rank] = journal->in_collectives().count();
  auto* const bytes = std::as_writable_bytes(std::span(times)).data();
  const Buffers buffers{bytes, bytes, times.size(), wire::ElementType::i64, wire::Operator::sum};
  const auto until = Clock::now() + finalize_timeout;
  const auto summed =
      machine ? machine->run({.buffers = buffers, .with_all = true, .aside = true}, until)
              : ring->allreduce(buffers, until);
  if (!summed) {
    return {};
  }
  std::vector<host::Duration> all;
  std::ranges::transform(times, std::back_inserter(all),
                         [](std::int64_t time) { return host::Duration(time); });
  return all;
}

// Whoever lost what this rank sent last would ask in vain once it is gone. So nobody goes before
// all have come here; the progress thread answers meanwhile. After an error there is nothing to
// wait for. Over a ring nobody asks again; but in an elastic world a rank that goes would end the
// collective for others that are still in it.
void Communicator::State::finalize() {
  if (!ring || (only_ring && !elastic) || failed) {
    return;
  }
  const auto together = ring->final_barrier(Clock::now() + finalize_timeout);
  if (together) {
    return;
  }
  if (together.error().code != Error::Code::timeout) {
    if (carrier->runner().retaining()) {
      std::this_thread::sleep_for(finalize_grace);
    }
    return;
  }
  // A device may take seconds to send something again, so this wait is a patient one.
  const auto until = patience();
  while (carrier->on_device() && carrier->runner().retaining() && !aborted &&
         Clock::now() < until) {
    std::this_thread::sleep_for(finalize_pause);
  }
}

}  // namespace tributary
