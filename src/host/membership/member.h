// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
#include "host/membership/member_state.h"
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

  // Waits for this process's place in the next membership after that one.
  Result<MembershipPlace> place_after(std::uint64_t epoch, Time until);
  // Asks for the next membership. Its place then comes.
  Result<void> ask(const RegroupWish& wish);
  // Returns what all members of that membership share, by rank. All of them call it once, with as
  // many bytes each.
  Result<std::vector<std::byte>> exchange(std::uint64_t epoch, wire::Bytes mine, Time until);

  // Returns the number of the latest membership that this process has a place in; 0: none.
  std::uint64_t latest() const;
  // Returns why that membership is over; nothing while it is not.
  std::optional<std::string> why_ended(std::uint64_t epoch) const;
  // Tells whether the keeper has said that this process is no member.
  bool is_dismissed() const;
  // Ends all waiting here, also what begins later, as the caller wants no more of it.
  void give_up();
  // Waits until that membership is over, and tells whether it is by then.
  bool await_end(std::uint64_t epoch, Time until);
  // `on_end` is called when that membership ends or is given up, or at once if it has, by the
  // thread that hears of it; it must not call this object. The next watch() takes its place: once
  // that has returned, `on_end` is not called any more.
  void watch(std::uint64_t epoch, std::function<void()> on_end);
  // Returns how many processes wait to join.
  std::uint32_t waiting() const;

 private:
  Member(const Endpoint& place, FileDescriptor fd, const WordStream& stream)
      : place_(place), fd_(std::move(fd)), stream_(stream) {}

  Result<void> send(const Word& word);
  void listen();
  bool take_in(wire::Bytes bytes);
  bool take_in(const Word& word);
  void lose(const std::string& why);
  // Waits for the first answer that there is by then.
  template <typename Answer>
  Answer await(Time until, const std::string& late,
               const std::function<std::optional<Answer>()>& answer);

  const Endpoint place_;
  const FileDescriptor fd_;
  std::mutex sending_;
  WordStream stream_;  // sending_ guards what it writes; only the thread reads

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  MemberState known_;
  std::uint64_t watched_ = 0;
  std::function<void()> on_end_;

  std::thread thread_;  // last: it uses the others
};

}  // namespace tributary::host
