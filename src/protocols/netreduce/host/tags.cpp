// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/tags.h"

#include "host/siphash.h"
#include "wire/endian.h"

namespace tributary::host {
namespace {

struct [[gnu::packed]] Input {
  wire::be32 purpose;
  wire::be32 message;
  wire::be32 rank;
};

constexpr std::uint32_t for_tag = 1;
constexpr std::uint32_t for_run = 2;

std::uint64_t hash_of(const JobKey& key, std::uint32_t purpose, std::uint32_t message,
                      std::uint32_t rank) {
  return siphash(key, Input{wire::be32{purpose}, wire::be32{message}, wire::be32{rank}});
}

}  // namespace

std::uint64_t MessageTags::of(std::uint32_t rank) const {
  return hash_of(key_, for_tag, message_, rank);
}

std::uint64_t MessageTags::total(std::uint32_t world_size) const {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    sum += of(rank);
  }
  return sum;
}

std::uint32_t run_of(const JobKey& key) {
  return static_cast<std::uint32_t>(hash_of(key, for_run, 0, 0));
}

}  // namespace tributary::host
