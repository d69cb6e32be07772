// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/membership/reception.h"
#include "host/membership/words.h"
#include "property/membership/keeper_model.h"

namespace tributary::test {

// The meaning of the next bytes that a process sends.
struct Meant {
  enum class Kind : std::uint8_t { found, join, refused, regroup, share };
  Kind kind{};
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;  // also of a wish
  std::uint32_t options = 0;
  std::uint64_t epoch = 0;
  host::Duration patience{};
  std::vector<std::byte> shared;
};

// One life of a keeper: its reception, and a model, which has to say the same at any time. It also
// counts the memory of the reception.
class Desk {
 public:
  using Id = host::Reception::Id;
  using Send = std::function<void(Id to, const std::vector<std::byte>& bytes)>;
  // The members of each membership, by epoch and rank.
  using Memberships = std::map<std::uint64_t, std::vector<Id>>;

  // Lines for the user go to `say`.
  using Say = std::function<void(const std::string& line)>;

  Desk(const std::string& secret, Send send, Say say);

  void welcome(Id id, host::Time now);
  // Tells what the next bytes on that connection mean.
  void expect(Id id, std::size_t bytes, const Meant& meant);
  // Tells whose greeting comes, so that the reception's messages can be read.
  void introduce(Id id, const host::RendezvousNonce& guest);
  // Bytes behind the expected ones are not from that process.
  void distrust(Id id) { connections_.at(id).is_changed = true; }
  void hear(Id id, wire::Bytes bytes, host::Time now);
  void leave(Id id, host::Time now);
  void expire(host::Time now);
  host::Time deadline() const;

  bool is_stranger(Id id) const { return reception_.is_stranger(id); }
  bool is_dismissed(Id id) const { return reception_.is_dismissed(id); }
  const Memberships& memberships() const { return memberships_; }
  const KeeperModel& model() const { return model_; }
  // The messages that were sent on that connection.
  const std::vector<host::Word>& said_to(Id id) const { return connections_.at(id).said; }
  // The first violation, or an empty text.
  const std::string& fault() const { return fault_; }

 private:
  struct Connection {
    host::RendezvousSession session;
    std::size_t raw = 0;                                   // bytes of the welcome
    std::optional<host::WordStream> listener;              // to the reception
    std::deque<std::pair<std::uint64_t, Meant>> expected;  // by the offset of its end
    std::uint64_t promised = 0;
    std::uint64_t heard = 0;
    bool is_changed = false;  // by an attacker on the way
    bool is_out = false;      // its messages no longer count
    bool is_here = true;
    std::vector<host::Word> said;
  };

  void take_in(Id id, Connection& connection, const Meant& meant, host::Time now);
  void compare(host::Time now);
  std::map<Id, std::vector<KeeperModel::Said>> take_said();
  void listen(Id id, const std::vector<std::byte>& bytes,
              std::map<Id, std::vector<KeeperModel::Said>>& said);
  void note_memberships();
  void check_memory();
  void blame(const std::string& what);

  host::Secret secret_;
  host::Reception reception_;
  KeeperModel model_;
  Send send_;
  Say say_;
  std::map<Id, Connection> connections_;
  std::size_t present_ = 0;
  std::size_t present_max_ = 0;
  Memberships memberships_;
  std::ptrdiff_t held_bytes_ = 0;  // by the reception
  std::string fault_;
};

}  // namespace tributary::test
