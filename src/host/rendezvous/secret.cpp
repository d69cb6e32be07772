// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/secret.h"

#include <sodium/crypto_generichash.h>
#include <sodium/randombytes.h>
#include <sodium/utils.h>

#include "wire/endian.h"

namespace tributary::host {
namespace {

using Digest = std::array<std::uint8_t, 32>;

const unsigned char* raw(wire::Bytes bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Digest digest_of(wire::Bytes first, wire::Bytes second) {
  crypto_generichash_state state;
  Digest digest{};
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  crypto_generichash_update(&state, raw(first), first.size());
  crypto_generichash_update(&state, raw(second), second.size());
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

}  // namespace

RendezvousNonce draw_nonce() {
  RendezvousNonce nonce{};
  randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

Secret::Secret(std::string_view text) : given_(!text.empty()) {
  key_ = digest_of(std::as_bytes(std::span(text)), {});
}

RendezvousProof Secret::prove(RendezvousStep step, const RendezvousSession& session,
                              wire::Bytes message, wire::Bytes rest) const {
  RendezvousProof proof{};
  if (!given_) {
    return proof;
  }
  struct [[gnu::packed]] Input {
    wire::be32 step;
    RendezvousNonce host;
    RendezvousNonce guest;
    Digest message;
  };
  const Input input{wire::be32{static_cast<std::uint32_t>(step)}, session.host, session.guest,
                    digest_of(message, rest)};
  crypto_generichash(proof.data(), proof.size(), reinterpret_cast<const unsigned char*>(&input),
                     sizeof input, key_.data(), key_.size());
  return proof;
}

bool Secret::believes(const RendezvousProof& proof, RendezvousStep step,
                      const RendezvousSession& session, wire::Bytes message,
                      wire::Bytes rest) const {
  const auto expected = prove(step, session, message, rest);
  return !given_ || ::sodium_memcmp(proof.data(), expected.data(), expected.size()) == 0;
}

JobKey Secret::job_key(const JobKey& drawn) const {
  JobKey key = drawn;
  if (given_) {
    crypto_generichash(key.data(), key.size(), drawn.data(), drawn.size(), key_.data(),
                       key_.size());
  }
  return key;
}

}  // namespace tributary::host
