// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/machine_collectives.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "host/call_check.h"
#include "host/clock.h"
#include "host/parallel/slabs.h"
#include "host/setup.h"
#include "host/text.h"

namespace tributary::host {
namespace {

// Ranks that wait for the first rank of their machine are more patient by so much than that one, so
// that they hear why it has failed.
constexpr auto grace = std::chrono::seconds(1);

// The ranks of a machine do these before the first collective.
constexpr std::uint64_t get_ready = 1;
constexpr std::uint64_t hear_of_the_others = 2;

bool adds_up(const Call& call) {
  return call.collective == Collective::allreduce || call.collective == Collective::reduce;
}

void copy_elements(std::byte* to, const std::byte* from, const Buffers& buffers) {
  if (buffers.count != 0) {
    std::memcpy(to, from, buffers.bytes());
  }
}

// Returns the options of the communicator whose ranks are machines. The one whose ranks are ranks
// records what people see of collectives.
CommunicatorOptions options_between(const CommunicatorOptions& options, const Seating& seating) {
  auto between = options;
  between.rank = seating.machine_of(options.rank);
  between.world_size = seating.machines();
  between.local_world_size = 1;
  between.parameters.erase("report");
  between.parameters.erase("timeline");
  if (options.on_notice) {
    between.on_notice = [told = options.on_notice,
                         who = " [" + std::to_string(seating.ranks()) + " ranks on " +
                               std::to_string(seating.machines()) +
                               " machines]"](const std::string& line) { told(line + who); };
  }
  return between;
}

}  // namespace

Result<std::unique_ptr<MachineCollectives>> MachineCollectives::create(
    const CommunicatorOptions& options, const Seating& seating, const std::string& name,
    Result<void> ready, Listener* listener) {
  const auto& beside = seating.ranks_of(seating.machine_of(options.rank));
  const bool is_first = beside.front() == options.rank;
  const auto patience = patience_of(options);
  auto group = MachineGroup::join(
      {name + " " + std::to_string(beside.front()), seating.local_rank(options.rank),
       static_cast<std::uint32_t>(beside.size()), beside},
      slab_bytes, Clock::now() + patience);
  std::unique_ptr<MachineCollectives> made;
  if (group) {
    made.reset(new MachineCollectives(std::move(*group), seating, options.rank));
    ready = made->agree(get_ready, ready, Clock::now() + patience);
  } else {
    ready = tl::make_unexpected(group.error());
  }
  const bool goes_on = ready.has_value();
  if (is_first) {
    // The other machines are told if this one is not ready.
    auto communicator = Communicator::create(options_between(options, seating), listener, ready);
    if (communicator) {
      made->communicator_ = std::move(*communicator);
      made->publish();
    } else if (goes_on) {
      ready = tl::make_unexpected(made->explained(communicator.error()));
    }
  }
  if (goes_on) {
    ready = made->agree(hear_of_the_others, ready, Clock::now() + patience + grace);
  }
  if (!ready) {
    return tl::make_unexpected(ready.error());
  }
  std::memcpy(&made->known_, made->group_.results(), sizeof made->known_);
  return made;
}

Result<void> MachineCollectives::agree(std::uint64_t what, const Result<void>& mine, Time until) {
  const auto met = group_.barrier({what, mine ? nullptr : &mine.error()}, until);
  return mine ? met : mine;
}

// Puts what is known where the others of the machine see it behind the next barrier.
void MachineCollectives::publish() {
  Between known;
  const auto& algorithm = communicator_->algorithm();
  algorithm.copy(known.algorithm.data(), known.algorithm.size() - 1);
  known.job = communicator_->job();
  known.payload_bytes = communicator_->payload_bytes_max();
  known.window = communicator_->window();
  known.full_packet = communicator_->full_packet();
  communicator_->local_address().copy(known.address.data(), known.address.size() - 1);
  std::memcpy(group_.results(), &known, sizeof known);
}

// Machines have numbers of their own in what their communicator says.
Error MachineCollectives::explained(const Error& error) const {
  std::string text = "between the machines, where ";
  const auto shown = std::min<std::uint32_t>(seating_.machines(), ranks_shown_max);
  for (std::uint32_t machine = 0; machine < shown; ++machine) {
    text += (machine == 0 ? "" : ", ") + rank_text(machine) + " stands for " +
            ranks_text(seating_.ranks_of(machine));
  }
  return Error{error.code, text + ": " + error.message};
}

Result<void> MachineCollectives::run(const Call& call, const Deadline& until) {
  const auto run = [&] { return run_pieces(call, until); };
  auto done = communicator_ ? communicator_->run_in_pieces(call_between(call), run) : run();
  end_with_group();
  return done;
}

// The machines number pieces, so that the next collective has the same number for all of them.
Result<void> MachineCollectives::run_pieces(const Call& call, const Deadline& until) {
  Result<void> done;
  for_pieces(call, [&](const Call& piece) {
    if (done) {
      auto fresh = until;
      fresh.progress(Clock::now());
      done = run_piece(piece, fresh);
    } else {
      leave_out(piece);
    }
  });
  return done;
}

void MachineCollectives::skip(const Call& call, const Deadline& until) {
  const Error refused{Error::Code::mismatch,
                      "it has left this collective out; its own error says why"};
  auto refused_call = countable(call);
  refused_call.root = std::min(call.root, seating_.ranks() - 1);
  bool first = true;
  for_pieces(refused_call, [&](const Call& piece) {
    if (first && group_.size() > 1) {
      (void)group_.barrier({piece_number(piece), &refused}, until);
    }
    first = false;
    leave_out(piece);
  });
  end_with_group();
}

Result<void> MachineCollectives::run_piece(const Call& call, const Deadline& until) {
  if (group_.size() == 1) {
    return between(call, until);
  }
  if (auto gathered = gather(call, until); !gathered) {
    leave_out(call);
    return gathered;
  }
  Result<void> carried;
  if (communicator_) {
    carried = between(call, until);
  }
  const auto concluded = group_.barrier({piece_number(call), carried ? nullptr : &carried.error()},
                                        until.longer_by(grace));
  if (!carried || !concluded) {
    return carried ? concluded : carried;
  }
  take(call);
  return {};
}

// After this, what the machine has to say is in the results. Nobody writes there before all have
// come: somebody may still copy what was there before.
Result<void> MachineCollectives::gather(const Call& call, const Deadline& until) {
  const auto& buffers = call.buffers;
  if (adds_up(call)) {
    copy_elements(group_.slab(group_.rank()), buffers.in, buffers);
  }
  auto come = group_.barrier({piece_number(call)}, until);
  if (!come || call.collective == Collective::barrier) {
    return come;
  }
  if (adds_up(call)) {
    reduce_slabs(group_, share_of(buffers.count, group_.rank(), group_.size()), buffers.type,
                 buffers.op);
  } else if (is_root(call)) {
    copy_elements(group_.results(), buffers.in, buffers);
  }
  return group_.barrier({piece_number(call)}, until);
}

// The first rank of a machine calls this.
Result<void> MachineCollectives::between(const Call& call, const Deadline& until) {
  auto shown = until;
  shown.show(group_.pulse());
  return communicator_->run_within(call_between(call), shown).map_error([this](const Error& error) {
    return explained(error);
  });
}

void MachineCollectives::end_with_group() {
  if (group_.has_ended() && communicator_) {
    communicator_->abort();
  }
}

void MachineCollectives::leave_out(const Call& call) {
  if (communicator_) {
    communicator_->leave_out(call_between(call));
  }
}

Call MachineCollectives::call_between(Call call) {
  call.root = seating_.machine_of(call.root);
  if (group_.size() > 1) {
    call.buffers.in = call.buffers.out = group_.results();
  }
  return call;
}

void MachineCollectives::take(const Call& call) {
  const bool is_mine = call.collective == Collective::allreduce ||
                       (call.collective == Collective::reduce && is_root(call)) ||
                       (call.collective == Collective::broadcast && !is_root(call));
  if (is_mine) {
    copy_elements(call.buffers.out, group_.results(), call.buffers);
  }
}

bool MachineCollectives::is_root(const Call& call) const {
  return seating_.machine_of(call.root) == machine_ &&
         seating_.local_rank(call.root) == group_.rank();
}

void MachineCollectives::shut_down() {
  group_.shut_down();
  if (communicator_) {
    communicator_->abort();
  }
}

ProtocolStatistics MachineCollectives::statistics() const {
  return communicator_ ? communicator_->statistics().carried : ProtocolStatistics{};
}

}  // namespace tributary::host
