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

// Drawn by who listens, and known to whom NCCL has brought the handle: nobody else is believed.
using Token = std::array<std::uint8_t, 32>;
bool is_same(const Token& a, const Token& b);

// What NCCL brings from the one who listens to the others, as bytes.
struct Handle {
  static constexpr std::uint32_t right_magic = 0x54724e43;
  std::uint32_t magic = right_magic;
  std::uint32_t version = 1;
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  std::uint16_t unused = 0;
  Token token{};
  // Of who connects, between one call and the next: the descriptor, plus one.
  std::int32_t connecting = 0;

  // Nothing where another plugin has made it.
  static std::optional<Handle> read(const void* memory);
  void write(void* memory) const;
  Place place() const { return {address, port}; }
};
static_assert(sizeof(Handle) <= handle_bytes_max);

// Who comes, and has not said all yet that it begins with.
class Guest {
 public:
  Guest(Socket socket, std::size_t bytes) : socket_(std::move(socket)), said_(bytes) {}

  enum class State { speaks, has_spoken, is_gone };
  State hear();
  // Precondition: it has spoken.
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
  // Of this machine's interface; null where the system has no socket, which is said.
  static Listener* open(void* handle);

  const Socket& socket() const { return socket_; }
  const Token& token() const { return token_; }
  void close() { socket_ = Socket(); }

  // Those who have come and have not shown the token yet.
  std::vector<Guest> guests;

 private:
  Listener(Socket socket, const Token& token) : socket_(std::move(socket)), token_(token) {}

  Socket socket_;
  Token token_;
};

// As NCCL calls them.
Result listen(int device, void* handle, void** listener);
Result close_listener(void* listener);

}  // namespace tributary::nccl
