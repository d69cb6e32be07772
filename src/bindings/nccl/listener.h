// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/nccl/abi.h"
#include "bindings/nccl/socket.h"

namespace tributary::nccl {

// The listener draws the Token, and whoever NCCL has brought the handle knows it: nobody else is
// believed.
using Token = std::array<std::uint8_t, 32>;
bool is_same(const Token& a, const Token& b);

// NCCL brings this from the listener to the others, as bytes.
struct Handle {
  static constexpr std::uint32_t right_magic = 0x54724e43;
  std::uint32_t magic = right_magic;
  std::uint32_t version = 1;
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  std::uint16_t unused = 0;
  Token token{};
  // A connecting rank keeps this between one call and the next: the descriptor, plus one.
  std::int32_t connecting = 0;

  // Returns no value if another plugin has made it.
  static std::optional<Handle> read(const void* memory);
  void write(void* memory) const;
  Place place() const { return {address, port}; }
};
static_assert(sizeof(Handle) <= handle_bytes_max);

// A Guest has come, and has not yet sent all that it begins with.
class Guest {
 public:
  Guest(Socket socket, std::size_t bytes) : socket_(std::move(socket)), said_(bytes) {}

  enum class State { speaks, has_spoken, is_gone };
  State hear();
  // Precondition: the guest has spoken.
  const std::vector<std::byte>& said() const { return said_; }
  const Socket& socket() const { return socket_; }
  Socket take() { return std::move(socket_); }

 private:
  Socket socket_;
  std::vector<std::byte> said_;
  std::size_t heard_ = 0;
};

class Listener {
 public:
  // Listens at this machine's interface. Returns null, and warns, if the system has no socket.
  static Listener* open(void* handle);

  const Socket& socket() const { return socket_; }
  const Token& token() const { return token_; }
  void close() { socket_ = Socket(); }

  // These have come and have not shown the token yet.
  std::vector<Guest> guests;

 private:
  Listener(Socket socket, const Token& token) : socket_(std::move(socket)), token_(token) {}

  Socket socket_;
  Token token_;
};

// NCCL calls these.
Result listen(int device, void* handle, void** listener);
Result close_listener(void* listener);

}  // namespace tributary::nccl
