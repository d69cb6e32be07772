// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "property/membership/agenda.h"
#include "property/membership/desk.h"
#include "property/membership/process.h"

namespace tributary::test {

// The network between the processes and their keepers, and among the processes: connections on
// which messages take time, and datagrams that are lost, come twice, or come late to the process
// that has the address by then. It also has strangers' connections.
class Wires : public Surroundings {
 public:
  Wires(const MembershipShape& shape, Agenda& agenda) : shape_(shape), agenda_(agenda) {}

  void connect(Process& process, Desk& desk);
  void connect_stranger(ProcessId id, Desk& desk, const std::string& secret);
  // From now on an attacker on the way changes one message of that process.
  void tamper(ProcessId id);
  // The machine of that process, or the path to its keeper, fails silently.
  void silence(ProcessId id);
  // The keeper has ended.
  void close(const Desk& desk);
  // Nothing is lost or changed any more.
  void calm_down();

  // What the keeper says.
  void tell(ProcessId id, const std::vector<std::byte>& bytes);
  // Must be called when anything may have happened at a keeper.
  void attend(Desk& desk);

  host::Time now() const override { return agenda_.now(); }
  void wake(ProcessId id, host::Time when) override;
  void say(ProcessId id, std::vector<std::byte> bytes, const Meant& meant) override;
  void introduce(ProcessId id, const host::RendezvousNonce& nonce) override;
  void hang_up(ProcessId id) override;
  void send(const host::Endpoint& to, std::vector<std::byte> bytes) override;
  const std::vector<ProcessId>& members(ProcessId id, std::uint64_t epoch) const override;

  std::uint64_t digest() const { return digest_; }
  bool is_changed(ProcessId id) const { return lines_.at(id).is_changed; }
  // Returns the process at that address, if it has not ended.
  Process* at(const host::Endpoint& address) const;

 private:
  struct Line {
    Process* process = nullptr;  // a stranger has none
    Desk* desk = nullptr;        // none when its keeper has ended
    const Desk* kept_by = nullptr;
    host::Time last_up;  // when the last message that was sent arrives
    host::Time last_down;
    bool is_silent = false;
    bool is_cut = false;     // what is on its way to the keeper is lost
    bool hung_up = false;    // by the process
    bool is_closed = false;  // by the keeper
    bool is_tampered = false;
    bool is_changed = false;  // on the way to the keeper
    bool is_spoilt = false;   // either way
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  host::Duration delay() { return std::chrono::microseconds(below(shape_.word_us + 1)); }
  std::vector<std::byte> any_bytes(std::size_t most);
  void send_up(ProcessId id, std::vector<std::byte> bytes);
  void arrive_up(ProcessId id, const std::vector<std::byte>& bytes);
  void arrive_down(ProcessId id, const std::vector<std::byte>& bytes);
  void change(ProcessId id, std::vector<std::byte> bytes, const Meant& meant);
  void end_line(ProcessId id);
  void cut_process_off(ProcessId id);
  void arrive(const host::Endpoint& to, const std::vector<std::byte>& bytes);
  void note(std::uint64_t what);

  const MembershipShape& shape_;
  Agenda& agenda_;
  std::mt19937_64 random_{shape_.seed * 7919 + 1};
  std::map<ProcessId, Line> lines_;
  std::map<std::uint32_t, Process*> addresses_;
  std::map<const Desk*, host::Time> planned_;  // when the desk is attended next
  bool calm_ = false;
  std::uint64_t digest_ = 0;
};

}  // namespace tributary::test
