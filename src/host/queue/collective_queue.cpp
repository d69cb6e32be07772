// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/collective_queue.h"

#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "host/call.h"
#include "host/clock.h"
#include "host/queue/fusion.h"
#include "host/queue/ordering.h"
#include "host/safely.h"
#include "host/text.h"
#include "host/thread.h"

namespace tributary {
namespace {

using host::Call;
using host::call_of;
using host::Clock;
using host::Collective;

// Rank 0 tells these to the others, so that there is nothing to differ in.
struct Terms {
  std::int64_t fusion_bytes = 0;
  std::int64_t stall_warning_ns = 0;
  std::int64_t patience_ns = 0;

  host::Ordering::Limits limits() const {
    return {std::chrono::nanoseconds(stall_warning_ns), std::chrono::nanoseconds(patience_ns)};
  }
};

Result<void> check(const CollectiveQueueOptions& options) {
  if (options.fusion_bytes > CollectiveQueueOptions::fusion_bytes_max) {
    return host::invalid("fusion_bytes is " +
                         std::to_string(CollectiveQueueOptions::fusion_bytes_max) + " at most");
  }
  if (options.stall_warning <= std::chrono::nanoseconds(0)) {
    return host::invalid("stall_warning is a time above 0");
  }
  return {};
}

// Returns the allreduce by which all ranks put the bits of whole words together.
Call over_words(std::span<std::uint64_t> words, wire::Operator op) {
  auto* const bytes = std::as_writable_bytes(words).data();
  return {Collective::allreduce, {bytes, bytes, words.size(), wire::ElementType::i64, op}, 0};
}

Call over_bytes(std::span<std::byte> bytes, std::uint32_t root) {
  return {Collective::broadcast,
          {bytes.data(), bytes.data(), bytes.size(), wire::ElementType::i8, wire::Operator::sum},
          root};
}

}  // namespace

// The ordering and what is behind it belong to whoever holds the lock. The communicator belongs to
// the thread, and so does what the ordering lends for a collective, until that has ended.
struct CollectiveQueue::State {
  State(Communicator given, const Terms& terms)
      : communicator(std::move(given)),
        fusion_bytes(static_cast<std::size_t>(terms.fusion_bytes)),
        ordering(communicator.rank(), communicator.world_size(), terms.limits(), Clock::now()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (thread.joinable()) {
      thread.join();
    }
  }

  Outcome submit(const std::string& name, const Call& call);
  Result<void> post(const std::string& name, const Call& call);
  Result<void> flush();
  Result<void> close();
  Figures figures();

  // The thread calls these; submit() calls note(), too.
  void run();
  void await_turn();
  Result<void> cycle();
  Result<void> vote();
  Result<void> ask_around();
  Result<void> carry_out();
  Result<void> run_batch(const std::vector<Call>& calls, const host::Batch& batch);
  Result<void> announce();
  void deliver();
  void note(const Result<void>& result);
  template <typename Use>
  auto locked(Use use) {
    const std::lock_guard lock(mutex);
    return use();
  }

  Communicator communicator;
  const std::size_t fusion_bytes;
  std::vector<std::byte> fused;

  std::mutex mutex;
  std::condition_variable turn;     // wakes the thread, which may be due
  std::condition_variable changed;  // wakes who waits here: something is over
  host::Ordering ordering;
  std::map<std::string, std::promise<Result<void>>> promises;
  std::optional<Error> first_error;  // since the last flush
  std::optional<Error> broken;
  bool ended = false;  // the thread is done with everything
  std::uint64_t cycles = 0;
  std::uint64_t announcements = 0;
  std::uint64_t collectives = 0;
  std::uint64_t collectives_fused = 0;

  std::thread thread;  // last: it uses the others
};

CollectiveQueue::Outcome CollectiveQueue::State::submit(const std::string& name, const Call& call) {
  std::promise<Result<void>> promise;
  auto outcome = promise.get_future();
  const std::lock_guard lock(mutex);
  if (auto posted = post(name, call); posted) {
    promises.insert_or_assign(name, std::move(promise));
    turn.notify_one();
  } else {
    note(posted);
    promise.set_value(std::move(posted));
  }
  return outcome;
}

Result<void> CollectiveQueue::State::post(const std::string& name, const Call& call) {
  if (broken) {
    return tl::make_unexpected(*broken);
  }
  return communicator.check(call).and_then([&] { return ordering.post(name, call, Clock::now()); });
}

Result<void> CollectiveQueue::State::flush() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return promises.empty(); });
  if (const auto error = std::exchange(first_error, std::nullopt)) {
    return tl::make_unexpected(*error);
  }
  return {};
}

Result<void> CollectiveQueue::State::close() {
  std::unique_lock lock(mutex);
  ordering.close(Clock::now());
  turn.notify_one();
  changed.wait(lock, [this] { return ended; });
  if (broken) {
    return tl::make_unexpected(*broken);
  }
  return {};
}

Figures CollectiveQueue::State::figures() {
  const std::lock_guard lock(mutex);
  return {{"cycles", cycles},
          {"announcements", announcements},
          {"collectives", collectives},
          {"collectives_fused", collectives_fused}};
}

void CollectiveQueue::State::run() {
  for (bool over = false; !over;) {
    await_turn();
    const auto done = host::safely([this] { return cycle(); }, [this] { communicator.abort(); });
    const std::lock_guard lock(mutex);
    if (!done) {
      broken = done.error();
      broken->message = "the queue has ended, make a new communicator: " + broken->message;
      ordering.abandon(*broken);
      deliver();
    }
    over = !done || ordering.is_over();
    if (over) {
      ended = true;
      changed.notify_all();
    }
  }
}

void CollectiveQueue::State::await_turn() {
  std::unique_lock lock(mutex);
  for (auto next = ordering.next(); Clock::now() < next; next = ordering.next()) {
    turn.wait_until(lock, next);
  }
}

Result<void> CollectiveQueue::State::cycle() {
  return vote()
      .and_then([&] { return ask_around(); })
      .and_then([&] { return carry_out(); })
      .and_then([&] { return announce(); });
}

Result<void> CollectiveQueue::State::vote() {
  const auto votes = locked([&] {
    ++cycles;
    return ordering.vote(Clock::now());
  });
  return communicator.run_aside(over_words(votes, wire::Operator::bit_and)).and_then([&] {
    return locked([&] { return ordering.count(Clock::now()); });
  });
}

Result<void> CollectiveQueue::State::ask_around() {
  const auto answers = locked([&] { return ordering.census(); });
  if (answers.empty()) {
    return {};
  }
  if (auto asked = communicator.run_aside(over_words(answers, wire::Operator::bit_or)); !asked) {
    return asked;
  }
  const auto warnings = locked([&] {
    ordering.settle();
    deliver();
    return ordering.take_warnings();
  });
  for (const auto& warning : warnings) {
    communicator.notify(warning);
  }
  return {};
}

Result<void> CollectiveQueue::State::carry_out() {
  const auto calls = locked([&] { return ordering.ready(); });
  for (const auto& batch : host::fuse(calls, fusion_bytes, communicator.reproducible())) {
    locked([&] { ordering.run_begins(Clock::now()); });
    if (auto done = run_batch(calls, batch); !done) {
      return done;
    }
    locked([&] {
      ordering.run_ended(batch.calls, Clock::now());
      collectives += batch.calls.size();
      collectives_fused += batch.calls.size() > 1 ? batch.calls.size() : 0;
      deliver();
    });
  }
  return {};
}

Result<void> CollectiveQueue::State::run_batch(const std::vector<Call>& calls,
                                               const host::Batch& batch) {
  if (batch.calls.size() == 1) {
    return communicator.run(calls[batch.calls.front()]);
  }
  auto done = communicator.run(host::gather(calls, batch, fused));
  if (done) {
    host::scatter(fused, calls, batch);
  }
  return done;
}

Result<void> CollectiveQueue::State::announce() {
  const auto announcer = locked([&] { return ordering.announcer(); });
  if (!announcer) {
    return {};
  }
  const auto names = locked([&] {
    ++announcements;
    return ordering.announcement();
  });
  return communicator.run_aside(over_bytes(names, *announcer)).and_then([&] {
    return locked([&] { return ordering.adopt(); });
  });
}

// Precondition: the lock is held.
void CollectiveQueue::State::deliver() {
  for (auto& [name, result] : ordering.take_outcomes()) {
    note(result);
    if (const auto promise = promises.extract(name)) {
      promise.mapped().set_value(std::move(result));
    }
  }
  changed.notify_all();
}

// Precondition: the lock is held.
void CollectiveQueue::State::note(const Result<void>& result) {
  if (!result && !first_error) {
    first_error = result.error();
  }
}

CollectiveQueue::CollectiveQueue(std::unique_ptr<State> state) : state_(std::move(state)) {}
CollectiveQueue::CollectiveQueue(CollectiveQueue&&) noexcept = default;
CollectiveQueue& CollectiveQueue::operator=(CollectiveQueue&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
CollectiveQueue::~CollectiveQueue() {
  if (state_) {
    (void)state_->close();
  }
}

Result<CollectiveQueue> CollectiveQueue::create(Communicator communicator,
                                                const CollectiveQueueOptions& options) {
  if (auto checked = check(options); !checked) {
    return tl::make_unexpected(checked.error());
  }
  if (communicator.membership().epoch != 0) {
    return fail(Error::Code::invalid_argument,
                "a queue keeps its communicator, which then could not regroup: give it one of a "
                "fixed world (TRIBUTARY_MEMBERSHIP=fixed)");
  }
  Terms terms{static_cast<std::int64_t>(options.fusion_bytes), options.stall_warning.count(),
              communicator.patience().count()};
  std::array words{terms.fusion_bytes, terms.stall_warning_ns, terms.patience_ns};
  const auto bytes = std::as_writable_bytes(std::span(words));
  if (auto told = communicator.run_aside(over_bytes(bytes, 0)); !told) {
    return tl::make_unexpected(told.error());
  }
  terms = {words[0], words[1], words[2]};
  auto state = std::make_unique<State>(std::move(communicator), terms);
  auto thread = host::start_thread([state = state.get()] { state->run(); });
  if (!thread) {
    return tl::make_unexpected(thread.error());
  }
  state->thread = std::move(*thread);
  return CollectiveQueue(std::move(state));
}

CollectiveQueue::Outcome CollectiveQueue::allreduce(const std::string& name, const void* in,
                                                    void* out, std::size_t count,
                                                    wire::ElementType type, wire::Operator op) {
  return state_->submit(name, call_of(Collective::allreduce, in, out, count, type, op, 0));
}
CollectiveQueue::Outcome CollectiveQueue::reduce(const std::string& name, const void* in, void* out,
                                                 std::size_t count, wire::ElementType type,
                                                 wire::Operator op, std::uint32_t root) {
  return state_->submit(name, call_of(Collective::reduce, in, out, count, type, op, root));
}
CollectiveQueue::Outcome CollectiveQueue::broadcast(const std::string& name, void* inout,
                                                    std::size_t count, wire::ElementType type,
                                                    std::uint32_t root) {
  return state_->submit(name, call_of(Collective::broadcast, inout, inout, count, type,
                                      wire::any_operator(type), root));
}
CollectiveQueue::Outcome CollectiveQueue::barrier(const std::string& name) {
  return state_->submit(name, Call{Collective::barrier, {}, 0});
}

Result<void> CollectiveQueue::flush() {
  return state_->flush();
}
Result<void> CollectiveQueue::close() {
  return state_->close();
}
Communicator& CollectiveQueue::communicator() {
  return state_->communicator;
}
Figures CollectiveQueue::statistics() const {
  return state_->figures();
}

}  // namespace tributary
