// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/clock.h"
#include "host/error.h"
#include "host/job.h"
#include "host/membership/messages.h"
#include "host/membership/words.h"
#include "host/rendezvous/secret.h"
#include "system/file_descriptor.h"
#include "wire/cursor.h"

namespace tributary::host {

// This process's connection with the keeper of its world, as long as it wants to be in it. A thread
// hears at any time what the keeper says. Any thread may call anything.
class Member {
 public:
  // Greets the keeper at `place`, and is waiting or a founder from then on.
  static Result<std::shared_ptr<Member>> come(const Endpoint& place, const MemberHello& hello,
                                              const Secret& secret, Time until);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member();

  // In the next membership after that one, when it is agreed on.
  Result<MembershipPlace> place_after(std::uint64_t epoch, Time until);
  // Asks for the next membership. Its place then comes.
  Result<void> ask(const RegroupWish& wish);
  // Of all members of that membership, which all call it once, as many bytes from each: by rank.
  Result<std::vector<std::byte>> exchange(std::uint64_t epoch, wire::Bytes mine, Time until);

  // The number of the latest membership that it has a place in; 0: of none.
  std::uint64_t latest() const;
  // Why that membership is over; nothing while it is not.
  std::optional<std::string> why_ended(std::uint64_t epoch) const;
  // Whether the keeper has said that this process is no member.
  bool is_dismissed() const;
  // Ends all that waits here, and will; of the caller, who wants no more of it.
  void give_up();
  // Whether it is over by then.
  bool await_end(std::uint64_t epoch, Time until);
  // Is called when that membership ends or is given up, or at once if it has; by the thread that
  // hears of it, and must not call this object. The next watch() ends that; none is called once it
  // has returned.
  void watch(std::uint64_t epoch, std::function<void()> on_end);
  // How many wait to join.
  std::uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  Member(const Endpoint& place, FileDescriptor fd, const WordStream& stream)
      : place_(place), fd_(std::move(fd)), stream_(stream) {}

  Result<void> send(const Word& word);
  void listen();
  bool take_in(wire::Bytes bytes);
  bool take_in(const Word& word);
  void end(std::uint64_t epoch, const std::string& why);
  void lose(const std::string& why, bool dismissed);
  std::optional<std::string> reason_of(std::uint64_t epoch) const;
  // Until it is so; an error if it cannot come to that any more, or the time has passed.
  Result<void> await(std::unique_lock<std::mutex>& lock, Time until, const std::string& late,
                     const std::function<bool()>& is_so);

  const Endpoint place_;
  const FileDescriptor fd_;
  std::atomic<std::uint32_t> waiting_ = 0;
  std::mutex sending_;
  WordStream stream_;  // what it writes is whose turn it is to send, what it reads the thread's

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::optional<MembershipPlace> mine_;           // in the latest membership
  std::optional<std::vector<std::byte>> shares_;  // of its exchange
  std::optional<std::string> ended_;              // why it is over
  std::optional<std::string> lost_;               // why the keeper says nothing more
  bool dismissed_ = false;                        // because this process is no member
  bool given_up_ = false;
  std::uint64_t watched_ = 0;
  std::function<void()> on_end_;

  std::thread thread_;  // last: it uses the others
};

}  // namespace tributary::host
