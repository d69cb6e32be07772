// SPDX-License-Identifier: BSD-3-Clause
#include "control/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace tributary::control {
namespace {

using Kind = CallError::Kind;
using SteadyTime = std::chrono::steady_clock::time_point;

tl::unexpected<CallError> call_error(Kind kind, std::string message) {
  return tl::unexpected(CallError{kind, std::move(message), {}});
}

// Waits until `fd` is ready for `events`; false at the deadline.
bool ready(int fd, short events, SteadyTime deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd entry{fd, events, 0};
    const int result = poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (result > 0) {
      return true;
    }
    if (result == 0 || errno != EINTR) {
      return false;
    }
  }
}

std::string timeout_text(std::chrono::milliseconds timeout) {
  return "no answer within " + std::to_string(timeout.count()) + " ms";
}

}  // namespace

tl::expected<Client, CallError> Client::connect(const std::string& path,
                                                std::chrono::milliseconds timeout) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return call_error(Kind::failed, "path of the socket is empty or longer than 107 bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    return call_error(Kind::failed, std::string("socket: ") + std::strerror(errno));
  }
  Client client(fd, timeout);
  // How sockets(7) takes every address family. EAGAIN: the daemon's backlog is full.
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    return client;
  }
  switch (errno) {
    case EACCES:
    case EPERM:
      return call_error(Kind::denied,
                        "not allowed to use " + path + "; run as root or join the socket's group");
    case ENOENT:
    case ECONNREFUSED:
      return call_error(Kind::no_daemon, "no daemon serves " + path +
                                             "; start tributaryd, or name another with --socket");
    case EAGAIN:
      return call_error(Kind::timeout, "the daemon takes no more connections");
    default:
      return call_error(Kind::failed, path + ": " + std::strerror(errno));
  }
}

Client::Client(Client&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      timeout_(other.timeout_),
      next_id_(other.next_id_),
      decoder_(std::move(other.decoder_)) {}

Client::~Client() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

tl::expected<nlohmann::json, CallError> Client::call(const std::string& method,
                                                     nlohmann::json params) {
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  const std::uint64_t id = next_id_++;
  const std::string frame = framed(request_text({id, method, std::move(params)}));
  if (frame.size() > frame_prefix_bytes + request_bytes_max) {
    return call_error(Kind::failed, "the request is longer than 1 MiB");
  }
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t result =
        send(fd_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (result > 0) {
      sent += static_cast<std::size_t>(result);
    } else if (errno == EAGAIN) {
      if (!ready(fd_, POLLOUT, deadline)) {
        return call_error(Kind::timeout, timeout_text(timeout_));
      }
    } else if (errno != EINTR) {
      break;  // the daemon closed; it may have said why
    }
  }
  for (;;) {
    if (const auto message = decoder_.next()) {
      auto reply = parse_reply(*message, id);
      if (reply) {
        return std::move(*reply);
      }
      const std::string text = reply.error().message;
      return tl::unexpected(CallError{Kind::failed, text, std::move(reply.error())});
    }
    if (decoder_.broken()) {
      return call_error(Kind::failed, "what answers is no tributaryd");
    }
    if (!ready(fd_, POLLIN, deadline)) {
      return call_error(Kind::timeout, timeout_text(timeout_));
    }
    std::array<char, 16384> chunk{};
    const ssize_t result = recv(fd_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (result > 0) {
      decoder_.append({chunk.data(), static_cast<std::size_t>(result)});
    } else if (result == 0 || (errno != EAGAIN && errno != EINTR)) {
      return call_error(Kind::failed, "the daemon closed the connection");
    }
  }
}

}  // namespace tributary::control
