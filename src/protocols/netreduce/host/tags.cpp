// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/tags.h"

#include "host/tags.h"

namespace tributary::host {
namespace {

std::uint64_t message_number(HashPurpose purpose, std::uint32_t message) {
  return std::uint64_t{static_cast<std::uint32_t>(purpose)} << 32 | message;
}

}  // namespace

MessageTags message_tags_of(const JobKey& key_of_call, std::uint32_t message, std::uint32_t rank) {
  return {tag_of(key_of_call, message_number(HashPurpose::message, message), rank),
          tag_of(key_of_call, message_number(HashPurpose::step, message), rank)};
}

MessageTags message_tags_of_all(const JobKey& key_of_call, std::uint32_t message,
                                std::uint32_t world_size) {
  return {tags_of_all(key_of_call, message_number(HashPurpose::message, message), world_size),
          tags_of_all(key_of_call, message_number(HashPurpose::step, message), world_size)};
}

}  // namespace tributary::host
