// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>

#include <sodium/crypto_shorthash.h>

#include "host/job.h"
#include "wire/endian.h"

namespace tributary::host {

static_assert(crypto_shorthash_KEYBYTES == sizeof(JobKey));

// Returns the SipHash-2-4 of a packed structure.
template <typename T>
std::uint64_t siphash(const JobKey& key, const T& input) {
  std::uint64_t tag = 0;
  unsigned char hash[crypto_shorthash_BYTES];
  static_assert(sizeof hash == sizeof tag);
  crypto_shorthash(hash, reinterpret_cast<const unsigned char*>(&input), sizeof input, key.data());
  std::memcpy(&tag, hash, sizeof tag);
  return tag;
}

// Returns the hash of three numbers.
inline std::uint64_t siphash(const JobKey& key, std::uint32_t first, std::uint32_t second,
                             std::uint32_t third) {
  struct [[gnu::packed]] Input {
    wire::be32 first;
    wire::be32 second;
    wire::be32 third;
  };
  return siphash(key, Input{wire::be32{first}, wire::be32{second}, wire::be32{third}});
}

// Hashes the same twelve bytes where two of the numbers are one of 64 bits. Stored in halves, which
// the hash reads as a whole, it would cost as much again.
inline std::uint64_t siphash(const JobKey& key, std::uint64_t first, std::uint32_t second) {
  struct [[gnu::packed]] Input {
    wire::be64 first;
    wire::be32 second;
  };
  return siphash(key, Input{wire::be64{first}, wire::be32{second}});
}

// The first of three numbers that are hashed under a job's key says what the hash is for. (Tags of
// PANAMA's packets have their tree there, those of Canary's and Flare's blocks zeros.)
enum class HashPurpose : std::uint32_t {
  message = 1,  // of a ring of NetReduce, under the key of the call
  run = 2,      // of a job, under its key
  ring = 3,     // of the hosts
  step = 4,     // from packet to packet of a message of NetReduce, under the key of the call
};

inline std::uint64_t siphash(const JobKey& key, HashPurpose purpose, std::uint32_t number,
                             std::uint32_t rank) {
  return siphash(key, static_cast<std::uint32_t>(purpose), number, rank);
}

}  // namespace tributary::host
