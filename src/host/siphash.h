// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>

#include <sodium/crypto_shorthash.h>

#include "host/job.h"

namespace tributary::host {

static_assert(crypto_shorthash_KEYBYTES == sizeof(JobKey));

// SipHash-2-4 of a packed structure.
template <typename T>
std::uint64_t siphash(const JobKey& key, const T& input) {
  std::uint64_t tag = 0;
  unsigned char hash[crypto_shorthash_BYTES];
  static_assert(sizeof hash == sizeof tag);
  crypto_shorthash(hash, reinterpret_cast<const unsigned char*>(&input), sizeof input, key.data());
  std::memcpy(&tag, hash, sizeof tag);
  return tag;
}

}  // namespace tributary::host
