// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/call.h"
#include "host/communicator.h"
#include "host/error.h"
#include "host/queue/fusion.h"
#include "host/stream/posting.h"

namespace tributary::host {

// A collective that is to be carried out.
struct Task {
  std::optional<Call> call;  // such tasks of a group may go as one
  // This is carried out if there is no call.
  std::function<Result<void>(Communicator&)> run;
};

struct Posted {
  Task task;
  std::shared_ptr<Posting> posting = std::make_shared<Posting>();
};

// Carries out the collectives of one communicator in the order in which they are posted, while
// whoever has posted them does something else. Any thread may post; a program that posts from
// several sees to it that all ranks have the same order.
class Stream {
 public:
  // Allreduces of a group that go as one have so many bytes at most, together.
  static constexpr std::size_t fused_bytes_max = std::size_t{1} << 20;

  // Makes a communicator with the other ranks. If `ready` is an error, it tells them, and fails.
  using Make = std::function<Result<Communicator>(const Result<void>& ready)>;
  // The stream has its thread before the ranks meet: those of a rank that gets none hear of it.
  static Result<std::unique_ptr<Stream>> over(const Make& make);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // Carries out what was posted before it ends.
  ~Stream();

  // Posts collectives that are carried out one behind the other, with nothing else in between.
  void post(std::vector<Posted> group);
  // Returns when the task is over. This thread carries it out, where nothing is before it.
  Result<void> run(const Task& task);
  // What is outstanding, and what is posted later, fails.
  void abort();

  // Gives the communicator to `use`, behind what was posted. It stays lent until take_back(),
  // unless `use` fails. Whatever is posted meanwhile is refused, also by a call that waits.
  Result<void> lend(std::function<Result<void>(Communicator&)> use);
  void take_back();

  // The communicator tells its rank and the like.
  const Communicator& communicator() const { return *communicator_; }
  // Calls `use` while nothing is running; fails while the communicator is lent. Whoever is told how
  // a collective has ended may call it, and finds it to be the last one.
  template <typename Use>
  Result<std::invoke_result_t<Use, Communicator&>> between_collectives(Use use) {
    if (is_mine()) {
      return use(*communicator_);
    }
    const Turn turn(*this);
    if (auto here = is_here(); !here) {
      return tl::make_unexpected(here.error());
    }
    return use(*communicator_);
  }
  // Returns how many collectives were carried out together with others.
  std::uint64_t fused() const { return fused_; }

 private:
  using Group = std::vector<Posted>;

  Stream() = default;

  // While it exists, the communicator is this thread's.
  class Turn {
   public:
    explicit Turn(Stream& stream) : stream_(stream) { stream_.take_turn(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { stream_.end_turn(); }

   private:
    Stream& stream_;
  };

  void serve();
  void carry_out(const Group& group);
  Result<void> carry_out(const Group& group, const std::vector<Call>& calls, const Batch& batch);
  Result<void> carry_out(const Task& task);
  template <typename Run>
  Result<void> safely(Run run);
  Result<void> run_as_one(const std::vector<Call>& calls, const Batch& batch);
  Result<void> check_all(const std::vector<Call>& calls, const Batch& batch);
  Result<void> call_without_buffers(const std::vector<Call>& calls, const Batch& batch);
  void take_turn();
  void end_turn();
  void begin_turn();
  bool is_mine() const;
  Result<void> is_here() const;

  std::optional<Communicator> communicator_;  // is there from before anything is posted
  std::vector<std::byte> buffer_;             // of what is fused
  std::atomic<std::uint64_t> fused_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Group> posted_;
  bool busy_ = false;  // some thread has the communicator:
  std::thread::id owner_{};
  unsigned waiting_ = 0;  // threads that want a turn, before what is posted
  bool lent_ = false;
  bool ending_ = false;

  std::thread thread_;  // last: it uses the others
};

}  // namespace tributary::host
