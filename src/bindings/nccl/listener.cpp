// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/listener.h"

#include <cerrno>
#include <cstring>
#include <sys/random.h>

#include "bindings/nccl/guarded.h"
#include "bindings/nccl/interface.h"
#include "bindings/nccl/log.h"

namespace tributary::nccl {
namespace {

std::optional<Token> draw() {
  Token token;
  const auto drawn = ::getrandom(token.data(), token.size(), 0);
  return drawn == static_cast<ssize_t>(token.size()) ? std::optional(token) : std::nullopt;
}

}  // namespace

// The comparison takes the same time wherever the tokens differ.
bool is_same(const Token& a, const Token& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(a[i] ^ b[i]);
  }
  return difference == 0;
}

std::optional<Handle> Handle::read(const void* memory) {
  Handle handle;
  std::memcpy(&handle, memory, sizeof handle);
  return handle.magic == right_magic && handle.version == 1 ? std::optional(handle) : std::nullopt;
}

void Handle::write(void* memory) const {
  std::memcpy(memory, this, sizeof *this);
}

Guest::State Guest::hear() {
  const auto moved = receive_some(socket_, said_.data() + heard_, said_.size() - heard_);
  heard_ += moved.bytes;
  if (moved.is_over) {
    return State::is_gone;
  }
  return heard_ == said_.size() ? State::has_spoken : State::speaks;
}

Listener* Listener::open(void* memory) {
  const auto interface = find_interface();
  const auto token = draw();
  if (!interface || !token) {
    warn(interface ? "the system has no source of randomness"
                   : "this machine has no interface that is up and has an IPv4 address; say which "
                     "one by TRIBUTARY_INTERFACE");
    return nullptr;
  }
  auto socket = listen_on(interface->address);
  if (!socket) {
    warn("cannot listen on interface " + interface->name + ": " + std::strerror(errno));
    return nullptr;
  }
  Handle handle;
  handle.address = interface->address;
  handle.port = port_of(socket);
  handle.token = *token;
  handle.write(memory);
  return new Listener(std::move(socket), *token);
}

Result listen(int, void* handle, void** listener) {
  return guarded([&] {
    *listener = Listener::open(handle);
    return *listener == nullptr ? Result::system_error : Result::success;
  });
}

Result close_listener(void* listener) {
  delete static_cast<Listener*>(listener);
  return Result::success;
}

}  // namespace tributary::nccl
