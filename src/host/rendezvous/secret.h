// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/job.h"
#include "host/rendezvous/messages.h"
#include "wire/cursor.h"

namespace tributary::host {

// Tells one connection of a rendezvous from all others: each side drew a part of it.
struct RendezvousSession {
  RendezvousNonce host{};  // rank 0's
  RendezvousNonce guest{};
};
RendezvousNonce draw_nonce();

// Tells which of the messages on a connection a proof is of.
enum class RendezvousStep : std::uint32_t {
  greeting,
  agreement,
  outcome,
  conclusion,
  // These are on a connection with a keeper of memberships.
  member_greeting,
  word_to_keeper,
  word_to_member,
};

// The ranks of a job were given a secret to know each other by. Without one, proofs are zeros and
// are believed.
class Secret {
 public:
  // An empty text is no secret. This needs sodium_init().
  explicit Secret(std::string_view text);

  bool given() const { return given_; }
  // A proof is keyed BLAKE2b (RFC 7693) of `message` and `rest`, without the proof itself.
  RendezvousProof prove(RendezvousStep step, const RendezvousSession& session, wire::Bytes message,
                        wire::Bytes rest = {}) const;
  bool believes(const RendezvousProof& proof, RendezvousStep step, const RendezvousSession& session,
                wire::Bytes message, wire::Bytes rest = {}) const;
  // The job's key is made of what rank 0 drew and of the secret, so that it is not on the wire.
  JobKey job_key(const JobKey& drawn) const;

 private:
  bool given_;
  std::array<std::uint8_t, 32> key_{};
};

}  // namespace tributary::host
