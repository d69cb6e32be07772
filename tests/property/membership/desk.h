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

// What a process means by the next bytes that it sends.
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

// One life of a keeper: its reception, and a model beside it, which has to say the same at any
// time. Counts what the reception has of memory.
class Desk {
 public:
  using Id = host::Reception::Id;
  using Send = std::function<void(Id to, const std::vector<std::byte>& bytes)>;
  // Of the membership `epoch` these are the members, by rank.
  using Memberships = std::map<std::uint64_t, std::vector<Id>>;

  // Lines for people go to `say`.
  using Say = std::function<void(const std::string& line)>;

  Desk(const std::string& secret, Send send, Say say);

  void welcome(Id id, host::Time now);
  // What it is to hear next on that connection, in so many bytes.
  void expect(Id id, std::size_t bytes, const Meant& meant);
  // Whose greeting comes, so that what the reception says can be read.
  void introduce(Id id, const host::RendezvousNonce& guest);
  // Whatever comes behind what is expected is none of what that process said.
  void distrust(Id id) { visitors_.at(id).is_changed = true; }
  void hear(Id id, wire::Bytes bytes, host::Time now);
  void leave(Id id, host::Time now);
  void expire(host::Time now);
  host::Time deadline() const;

  bool is_stranger(Id id) const { return reception_.is_stranger(id); }
  bool is_dismissed(Id id) const { return reception_.is_dismissed(id); }
  const Memberships& memberships() const { return memberships_; }
  const KeeperModel& model() const { return model_; }
  // The words that were said on that connection.
  const std::vector<host::Word>& said_to(Id id) const { return visitors_.at(id).said; }
  // The first thing that must not be; empty if all is well.
  const std::string& fault() const { return fault_; }

 private:
  struct Visitor {
    host::RendezvousSession session;
    std::size_t raw = 0;                                   // bytes of the welcome
    std::optional<host::WordStream> listener;              // to the reception
    std::deque<std::pair<std::uint64_t, Meant>> expected;  // by the offset of its end
    std::uint64_t promised = 0;
    std::uint64_t heard = 0;
    bool is_changed = false;  // by somebody on the way
    bool is_out = false;      // no word of it counts any more
    bool is_here = true;
    std::vector<host::Word> said;
  };

  void take_in(Id id, Visitor& visitor, const Meant& meant, host::Time now);
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
  std::map<Id, Visitor> visitors_;
  std::size_t present_ = 0;
  std::size_t present_max_ = 0;
  Memberships memberships_;
  std::ptrdiff_t held_bytes_ = 0;  // by the reception
  std::string fault_;
};

}  // namespace tributary::test
