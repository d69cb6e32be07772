// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/job.h"
#include "host/rendezvous/messages.h"
#include "host/rendezvous/rendezvous.h"
#include "wire/cursor.h"

namespace tributary::host {

// Rank 0's list of who has come, without I/O.
class RendezvousTable {
 public:
  // `host` is rank 0's own hello.
  explicit RendezvousTable(const RendezvousHello& host);

  // Adds a rank. Returns the reason why the ranks do not agree, if `hello` shows that; it holds for
  // all.
  std::optional<std::string> add(const RendezvousHello& hello);
  // A rank went away again before all had come.
  void remove(std::uint32_t rank);

  bool complete() const { return present_ == entries_.size(); }
  std::string missing() const;

  // Returns the answer to all, as bytes. Precondition: complete().
  std::vector<std::byte> agreement(std::uint32_t job, const JobKey& key) const;

 private:
  std::vector<std::optional<RendezvousHello>> entries_;
  std::size_t present_ = 0;
};

// Returns, for people, in what the options of `who` differ from those of rank 0, whose hello `host`
// is. It does not look at ranks, the size of the world, and what each has for itself.
std::optional<std::string> disagreement(const RendezvousHello& hello, const std::string& who,
                                        const RendezvousHello& host);

std::vector<std::byte> refusal(const std::string& reason);

// Reads what follows a reply that did not fail.
Result<Meeting> parse_agreement(wire::Bytes body, const RendezvousHello& mine);

}  // namespace tributary::host
