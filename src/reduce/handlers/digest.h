// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <tl/expected.hpp>

namespace tributary::reduce {

// A Digest tells contents apart that differ by chance. It is no seal: whoever wants two contents
// with one digest can make them.
class Digest {
 public:
  void add(std::span<const std::byte> bytes);
  void add(std::uint64_t word);
  std::uint64_t value() const { return value_ != 0 ? value_ : 1; }

 private:
  std::uint64_t value_ = 0x7472696275746172;  // "tributar"
};

// Returns the digest of the file's contents, which is never 0. An error says why the file cannot be
// read.
tl::expected<std::uint64_t, std::string> digest_of_file(const std::string& path);

}  // namespace tributary::reduce
