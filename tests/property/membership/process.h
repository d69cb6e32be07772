// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "host/clock.h"
#include "host/membership/member_state.h"
#include "host/membership/words.h"
#include "property/membership/desk.h"
#include "property/membership/shape.h"
#include "protocols/canary/host/collectives.h"

namespace tributary::test {

// The number by which a process takes part in a trial; also that of its connection.
using ProcessId = std::uint64_t;

// The surroundings of a process: time, network and keeper.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual host::Time now() const = 0;
  // Calls step_at() of that process.
  virtual void wake(ProcessId id, host::Time when) = 0;
  virtual void say(ProcessId id, std::vector<std::byte> bytes, const Meant& meant) = 0;
  virtual void introduce(ProcessId id, const host::RendezvousNonce& nonce) = 0;
  virtual void hang_up(ProcessId id) = 0;
  virtual void send(const host::Endpoint& to, std::vector<std::byte> bytes) = 0;
  // Returns the members of a membership, by rank, at the keeper that this process is connected
  // with.
  virtual const std::vector<ProcessId>& members(ProcessId id, std::uint64_t epoch) const = 0;
};

// A process of an elastic world. It founds or joins the world, carries out one allreduce after the
// other with the other members, and regroups, as communicator_membership.cpp does on sockets. A
// MemberState holds what it knows of its world, and Canary's machine carries out its part in
// collectives.
class Process {
 public:
  struct Birth {
    ProcessId id = 0;
    host::Endpoint address;
    std::string secret;
    bool joins = false;
    std::uint32_t rank = 0;  // of a founder
    std::uint32_t world_size = 0;
    std::uint32_t options = 0;  // 0: those of the world
    host::Duration patience{};
  };

  Process(const MembershipShape& shape, Surroundings& around, Birth birth);

  // Takes what comes; the next step() handles it.
  void take_words(const std::vector<std::byte>& bytes);
  void lose_keeper() { is_cut_ = true; }
  void take_datagram(std::vector<std::byte> bytes);
  // Does everything that is due now, unless the process is frozen.
  void step();
  // Does the same if the process has asked for this time.
  void step_at(host::Time planned);

  // Has it regroup after its present collective.
  void want(std::uint32_t world_size);
  // hang(): it never calls regroup() again; retire(): it ends after its present collective; kill():
  // it ends now.
  void hang() { hangs_ = true; }
  void retire() { retires_ = true; }
  void kill();
  void freeze(host::Time until) { frozen_until_ = until; }
  // From now on nothing disturbs it, and it continues as long as it may.
  void calm_down(host::Duration patience);

  const Birth& birth() const { return birth_; }
  bool is_over() const { return state_ == State::over; }
  bool is_working() const { return state_ == State::working; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t sums_in_epoch() const { return call_; }
  std::uint64_t sums() const { return sums_; }
  std::uint64_t stray_datagrams() const { return strays_; }
  std::uint64_t regroupings() const { return regroupings_; }
  std::uint64_t errors() const { return errors_; }
  std::string state_text() const;
  // The first violation, or an empty text.
  const std::string& fault() const { return fault_; }
  const std::vector<host::Word>& heard() const { return heard_; }

 private:
  enum class State : std::uint8_t {
    coming,    // the keeper's welcome has not come
    placing,   // waits for the membership after `after_`
    meeting,   // of `after_`: waits for what all share
    joining,   // all know where the others are
    news,      // did not meet them: whether the keeper says why
    working,   // of `epoch_`
    thinking,  // has an error, and will regroup
    over,
  };

  bool is_frozen() const { return around_.now() < frozen_until_; }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  host::Duration any_ms(std::uint64_t most);
  void wake(host::Time when);

  void hear();
  void hear(const host::Word& word);
  bool move();
  bool come();
  bool place();
  bool meet();
  bool join();
  bool await_news();
  bool think();
  void share();
  void ask(std::uint64_t epoch);
  void wait_for_place(std::uint64_t after);
  void fail_to_meet();
  void fail_to_regroup();
  void regroup();
  void fall_out();

  bool work();
  void begin_work();
  void begin_call();
  void end_call();
  void check_sum();
  void pump();
  std::vector<std::int64_t> contribution(ProcessId of) const;
  std::size_t elements() const;

  host::Time next_time() const;
  void blame(const std::string& what);

  const MembershipShape& shape_;
  Surroundings& around_;
  Birth birth_;
  std::mt19937_64 random_;
  host::Secret secret_;
  State state_ = State::coming;
  host::Time until_;  // of the state
  host::Time planned_ = host::never;

  // The connection with the keeper.
  std::vector<std::byte> unread_;
  bool is_cut_ = false;
  std::optional<host::WordStream> stream_;
  host::MemberState known_;
  std::vector<host::Word> heard_;
  std::uint64_t after_ = 0;
  std::uint32_t wish_ = 0;
  int attempts_ = 0;
  int regroups_left_ = 3;

  // The membership that it works in.
  std::uint64_t epoch_ = 0;
  host::Job job_;
  std::unique_ptr<host::CanaryCollectives> machine_;
  std::deque<std::vector<std::byte>> datagrams_;
  std::uint64_t call_ = 0;
  bool in_call_ = false;
  std::vector<std::int64_t> in_;
  std::vector<std::int64_t> out_;
  std::optional<host::Time> falls_out_at_;

  bool wants_ = false;
  bool hangs_ = false;
  bool retires_ = false;
  bool calm_ = false;
  host::Time frozen_until_{};
  std::uint64_t sums_ = 0;
  std::uint64_t strays_ = 0;
  std::uint64_t regroupings_ = 0;
  std::uint64_t errors_ = 0;
  std::string fault_;
};

}  // namespace tributary::test
