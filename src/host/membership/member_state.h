// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/membership/messages.h"
#include "host/membership/words.h"

namespace tributary::host {

// Has what one process knows of its place in a keeper's world, from what the keeper has said. It
// does no I/O. Questions that it cannot answer yet have no answer: ask again when more was heard.
class MemberState {
 public:
  // Returns false after the last word: the keeper has turned this process away, or says nonsense.
  bool hear(const Word& word);
  // Nothing more will be heard.
  void lose(const std::string& why);
  // The caller wants no more answers.
  void give_up() { given_up_ = true; }

  // Returns the place in the next membership after that one.
  std::optional<Result<MembershipPlace>> place_after(std::uint64_t epoch) const;
  // Returns what the members of that membership have shared, by rank; once.
  std::optional<Result<std::vector<std::byte>>> take_shares(std::uint64_t epoch);
  // Answers when this membership is over.
  std::optional<Result<void>> end_of(std::uint64_t epoch) const;

  // Returns the number of the latest membership that it has a place in; 0: none.
  std::uint64_t latest() const { return place_ ? place_->epoch.value() : 0; }
  // Returns why that membership is over; nothing while it is not.
  std::optional<std::string> why_ended(std::uint64_t epoch) const;
  bool is_dismissed() const { return dismissed_; }
  bool is_given_up() const { return given_up_; }
  // Returns how many processes wait to join.
  std::uint32_t waiting() const { return waiting_; }

 private:
  // Returns why there will never be an answer, if that is so.
  std::optional<Error> reason_to_stop() const;

  std::optional<MembershipPlace> place_;          // in the latest membership
  std::optional<std::vector<std::byte>> shares_;  // by its exchange
  std::optional<std::string> ended_;              // why it is over
  std::optional<std::string> lost_;               // why the keeper says nothing more
  bool dismissed_ = false;                        // because this process is no member
  bool given_up_ = false;
  std::uint32_t waiting_ = 0;
};

}  // namespace tributary::host
