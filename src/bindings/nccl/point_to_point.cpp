// SPDX-License-Identifier: BSD-3-Clause
// NCCL finds messages from one rank to another by this table. It takes no plugin without one, and
// carries by it what collectives do not: by TCP, as its own sockets do.
#include <cstdint>
#include <cstring>
#include <utility>

#include "bindings/nccl/abi.h"
#include "bindings/nccl/connection.h"
#include "bindings/nccl/device.h"
#include "bindings/nccl/guarded.h"
#include "bindings/nccl/listener.h"
#include "bindings/nccl/log.h"
#include "bindings/nccl/socket.h"

namespace tributary::nccl {
namespace {

// The rank that connects shows the token first, for which a socket that is new has room.
bool introduce(const Socket& socket, const Token& token) {
  return send_some(socket, token.data(), token.size()).bytes == token.size();
}

Result give_up_connecting(Handle& handle, void* memory) {
  const Socket closed(std::exchange(handle.connecting, 0) - 1);
  handle.write(memory);
  warn("another rank cannot be reached at the address of its handle");
  return Result::remote_error;
}

// NCCL calls this with the same memory until there is a connection: what is on its way is kept
// there.
Result start_sending(int, void* memory, void** comm, void**) {
  *comm = nullptr;
  return guarded([&] {
    auto handle = Handle::read(memory);
    if (!handle) {
      warn("another rank has another network plugin, or another version of it");
      return Result::invalid_usage;
    }
    if (handle->connecting == 0) {
      handle->connecting = start_to_connect(handle->place()).release() + 1;
      handle->write(memory);
    }
    Socket socket(handle->connecting - 1);
    const auto state = socket ? look_at(socket) : Connecting::failed;
    if (state == Connecting::yet) {
      socket.release();
      return Result::success;
    }
    if (state == Connecting::failed || !introduce(socket, handle->token)) {
      socket.release();
      return give_up_connecting(*handle, memory);
    }
    handle->connecting = 0;
    handle->write(memory);
    *comm = new Connection(std::move(socket), Connection::Side::sends);
    return Result::success;
  });
}

Result start_receiving(void* listener, void** comm, void**) {
  *comm = nullptr;
  return guarded([&] {
    auto& mine = *static_cast<Listener*>(listener);
    while (auto socket = accept_from(mine.socket())) {
      mine.guests.emplace_back(std::move(socket), sizeof(Token));
    }
    std::erase_if(mine.guests, [&](Guest& guest) {
      const auto state = guest.hear();
      Token shown{};
      if (*comm != nullptr || state == Guest::State::speaks) {
        return false;
      }
      if (state == Guest::State::has_spoken) {
        std::memcpy(shown.data(), guest.said().data(), shown.size());
      }
      if (is_same(shown, mine.token())) {
        *comm = new Connection(guest.take(), Connection::Side::receives);
      }
      return true;
    });
    return Result::success;
  });
}

Result deregister_nothing(void*, void*) {
  return Result::success;
}

Result isend(void* comm, void* data, int bytes, int, void*, void** request) {
  *request = nullptr;
  return guarded([&] {
    *request = static_cast<Connection*>(comm)->post(data, static_cast<std::uint64_t>(bytes));
    return Result::success;
  });
}

Result ireceive(void* comm, int count, void** data, int* bytes, int*, void**, void** request) {
  *request = nullptr;
  return guarded([&] {
    if (count != 1) {
      warn(
          "NCCL receives several messages in one, which the plugin has said that it does not have");
      return Result::internal_error;
    }
    *request = static_cast<Connection*>(comm)->post(data[0], static_cast<std::uint64_t>(bytes[0]));
    return Result::success;
  });
}

Result flush_received(void*, int, void**, int*, void**, void** request) {
  *request = nullptr;
  return Result::success;
}

Result test_transfer(void* request, int* done, int* bytes) {
  auto& transfer = *static_cast<Transfer*>(request);
  return transfer.connection->test(transfer, done, bytes);
}

Result close_connection(void* comm) {
  delete static_cast<Connection*>(comm);
  return Result::success;
}

}  // namespace
}  // namespace tributary::nccl

extern "C" {
[[gnu::visibility("default")]] extern const tributary::nccl::NetworkV8 ncclNetPlugin_v8;

// Newer versions of NCCL take this table as well.
const tributary::nccl::NetworkV8 ncclNetPlugin_v8{tributary::nccl::network_name,
                                                  tributary::nccl::begin,
                                                  tributary::nccl::count_devices,
                                                  tributary::nccl::describe,
                                                  tributary::nccl::listen,
                                                  tributary::nccl::start_sending,
                                                  tributary::nccl::start_receiving,
                                                  tributary::nccl::register_memory,
                                                  tributary::nccl::register_dma_buffer,
                                                  tributary::nccl::deregister_nothing,
                                                  tributary::nccl::isend,
                                                  tributary::nccl::ireceive,
                                                  tributary::nccl::flush_received,
                                                  tributary::nccl::test_transfer,
                                                  tributary::nccl::close_connection,
                                                  tributary::nccl::close_connection,
                                                  tributary::nccl::close_listener,
                                                  nullptr,
                                                  nullptr};
}
