// SPDX-License-Identifier: BSD-3-Clause
#include "control/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "control/socket_file.h"
#include "system/signals_later.h"

namespace tributary::control {
namespace {

using Kind = CallError::Kind;
using SteadyTime = std::chrono::steady_clock::time_point;

tl::unexpected<CallError> call_error(Kind kind, std::string message) {
  return tl::unexpected(CallError{kind, std::move(message), {}});
}

// Says whether a reply, or an error, is to a call before `id` that was given up.
bool is_of_earlier(std::string_view reply, std::uint64_t id) {
  const auto parsed = parse_json(reply);
  if (!parsed || !parsed->is_object()) {
    return false;
  }
  const auto answered = parsed->find("id");
  return answered != parsed->end() && answered->is_number_unsigned() &&
         answered->get<std::uint64_t>() != 0 && answered->get<std::uint64_t>() < id;
}

// Waits until `fd` is ready for `events`. Returns false at the deadline.
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

// The exit status of `ssh HOST tributaryctl relay` says this.
tl::unexpected<CallError> relay_error(const std::string& host, int status) {
  const std::string at = " on " + host;
  switch (status) {
    case 3:
      return call_error(Kind::no_daemon, "no daemon serves the socket" + at);
    case 4:
      return call_error(Kind::denied, "not allowed to use the socket" + at);
    case 5:
      return call_error(Kind::timeout, "the daemon" + at + " takes no more connections");
    case 127:
      return call_error(Kind::failed, "there is no tributaryctl" + at + "; install it");
    case 255:
      return call_error(Kind::no_daemon, "ssh cannot reach " + host);
    default:
      return call_error(Kind::failed, "the connection to the daemon" + at + " ended");
  }
}

// The shell at the far end takes the text as one word.
std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

// This command reaches the socket on another machine. It is made before the fork, as nothing is
// allocated behind it.
struct SshCommand {
  SshCommand(std::string to, const std::string& path)
      : host(std::move(to)), socket(quoted_for_shell(path)) {
    const char* const given = std::getenv("TRIBUTARY_SSH");
    script = std::string(given != nullptr ? given : "ssh -o BatchMode=yes") + " \"$@\"";
  }
  [[noreturn]] void run(int fd) const {
    setpgid(0, 0);  // so that what the shell starts can be ended with it
    SignalsLater::none();
    dup2(fd, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", script.c_str(), "sh", host.c_str(), "tributaryctl", "--socket",
          socket.c_str(), "relay", nullptr);
    _exit(126);
  }

  std::string host;
  std::string socket;
  std::string script;
};

// While the daemon is busy its backlog may be full, which EAGAIN says. Other errors are in errno.
bool connect_until(int socket, const sockaddr_un& address, SteadyTime end) {
  // sockets(7) takes every address family by this cast.
  while (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EAGAIN || std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::string timeout_text(std::chrono::milliseconds timeout) {
  return "no answer within " + std::to_string(timeout.count()) + " ms";
}

}  // namespace

tl::expected<Client, CallError> Client::connect(const std::string& path,
                                                std::chrono::milliseconds timeout) {
  const auto address = unix_address(path);
  if (!address) {
    return call_error(Kind::failed, "path of the socket is empty or longer than 107 bytes");
  }
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) {
    return call_error(Kind::failed, std::string("socket: ") + std::strerror(errno));
  }
  if (connect_until(fd.get(), *address, std::chrono::steady_clock::now() + timeout)) {
    return Client(std::move(fd), timeout);
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

tl::expected<Client, CallError> Client::connect_over_ssh(const std::string& host,
                                                         const std::string& path,
                                                         std::chrono::milliseconds timeout) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return call_error(Kind::failed, std::string("socketpair: ") + std::strerror(errno));
  }
  FileDescriptor near(ends[0]);
  const FileDescriptor far(ends[1]);
  const SshCommand command(host, path);
  const pid_t child = fork();
  if (child == 0) {
    command.run(far.get());
  }
  if (child < 0) {
    return call_error(Kind::failed, std::string("fork: ") + std::strerror(errno));
  }
  setpgid(child, child);  // whichever of both processes comes first does it
  return Client(std::move(near), timeout, child, host);
}

Client::Client(Client&& other) noexcept
    : fd_(std::move(other.fd_)),
      timeout_(other.timeout_),
      child_(std::exchange(other.child_, -1)),
      host_(std::move(other.host_)),
      next_id_(other.next_id_),
      gave_up_(other.gave_up_),
      decoder_(std::move(other.decoder_)) {}

Client::~Client() {
  fd_ = FileDescriptor();  // this ends the relay
  if (child_ > 0) {
    kill(-child_, SIGTERM);  // it would end by itself, but who knows when
    waitpid(child_, nullptr, 0);
  }
}

tl::unexpected<CallError> Client::closed() {
  if (child_ <= 0) {
    return call_error(Kind::failed, "the daemon closed the connection");
  }
  int status = 0;
  waitpid(std::exchange(child_, -1), &status, 0);
  return relay_error(host_, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

tl::expected<nlohmann::json, CallError> Client::call(const std::string& method,
                                                     nlohmann::json params) {
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  const std::uint64_t id = next_id_++;
  const std::string frame = framed(request_text({id, method, std::move(params), timeout_}));
  if (frame.size() > frame_prefix_bytes + request_bytes_max) {
    return call_error(Kind::failed, "the request is longer than 1 MiB");
  }
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t result =
        send(fd_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (result > 0) {
      sent += static_cast<std::size_t>(result);
    } else if (errno == EAGAIN) {
      if (!ready(fd_.get(), POLLOUT, deadline)) {
        shutdown(fd_.get(), SHUT_RDWR);  // the rest of the request would be missing
        if (child_ > 0) {
          kill(-child_, SIGTERM);  // nobody is to wait for it
        }
        return call_error(Kind::timeout, timeout_text(timeout_));
      }
    } else if (errno != EINTR) {
      break;  // the daemon closed; it may have said why
    }
  }
  for (;;) {
    if (const auto message = decoder_.next()) {
      if (gave_up_ && is_of_earlier(*message, id)) {
        continue;
      }
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
    if (!ready(fd_.get(), POLLIN, deadline)) {
      gave_up_ = true;
      return call_error(Kind::timeout, timeout_text(timeout_));
    }
    std::array<char, 16384> chunk{};
    const ssize_t result = recv(fd_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (result > 0) {
      decoder_.append({chunk.data(), static_cast<std::size_t>(result)});
    } else if (result == 0 || (errno != EAGAIN && errno != EINTR)) {
      return closed();
    }
  }
}

}  // namespace tributary::control
