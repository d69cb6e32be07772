// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/digest.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "wire/key.h"

namespace tributary::reduce {
namespace {

constexpr std::size_t piece_bytes = 65536;  // whole words

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string reason_of_errno() {
  return std::generic_category().message(errno);
}

}  // namespace

void Digest::add(std::uint64_t word) {
  value_ = wire::mix_key(value_ + 0x9e3779b97f4a7c15, word);
}

// The last word is filled up with zeros, and the length is added.
void Digest::add(std::span<const std::byte> bytes) {
  const std::size_t size = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const auto length = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), length);
    add(word);
    bytes = bytes.subspan(length);
  }
  add(size);
}

tl::expected<std::uint64_t, std::string> digest_of_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return tl::make_unexpected(reason_of_errno());
  }
  Digest digest;
  std::vector<std::byte> piece(piece_bytes);
  while (const auto length = std::fread(piece.data(), 1, piece.size(), file.get())) {
    digest.add(std::span(piece).first(length));
  }
  if (std::ferror(file.get()) != 0) {
    return tl::make_unexpected(reason_of_errno());
  }
  return digest.value();
}

}  // namespace tributary::reduce
