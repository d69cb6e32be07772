// SPDX-License-Identifier: BSD-3-Clause
#include "control/server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include <liburing.h>
#include <spdlog/spdlog.h>

#include "control/dispatcher.h"
#include "control/listener.h"
#include "control/protocol.h"
#include "system/file_descriptor.h"

namespace tributary::control {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr unsigned ring_entries = 64;  // an accept, a wake, and one receive or send per client
constexpr std::size_t chunk_bytes = 16 * 1024;
constexpr std::chrono::milliseconds drain_timeout{200};
constexpr std::size_t waiting_max = 64;
constexpr std::chrono::milliseconds place_patience{500};

enum class Operation : std::uint8_t { accept, receive, send, wake };

std::uint64_t tag_of(Operation operation, std::size_t client) {
  return (static_cast<std::uint64_t>(client) << 8) | static_cast<std::uint64_t>(operation);
}

// A session is one connection, or a free place (without a descriptor). A place is free again only
// when the kernel has let go of its buffers.
struct Session {
  FileDescriptor fd;
  ucred peer{};
  FrameDecoder decoder{request_bytes_max};
  std::array<char, chunk_bytes> chunk{};
  std::string reply;  // framed, being sent
  std::size_t reply_sent = 0;
  bool in_flight = false;  // one receive or send is with the kernel
  bool closing = false;
  SteadyTime idle_since;   // when the last message was complete
  SteadyTime stuck_since;  // when the message or reply that is under way began

  bool under_way() const { return !reply.empty() || decoder.partial(); }
};

// The connection was accepted when no place was free. Places of clients that have hung up become
// free when the kernel has said so, which it may do after the next one has come.
struct PendingConnection {
  FileDescriptor fd;
  SteadyTime since;
};

}  // namespace

class Server::Implementation {
 public:
  Implementation(const ServerOptions& options, Listener listener, Backend& backend)
      : options_(options), listener_(std::move(listener)), backend_(backend) {}

  ~Implementation() {
    if (!ring_ready_) {
      return;
    }
    drain();
    io_uring_queue_exit(&ring_);
  }

  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  tl::expected<void, std::string> start() {
    if (const int error = io_uring_queue_init(ring_entries, &ring_, 0); error < 0) {
      return tl::unexpected("io_uring is not available: " + std::string(std::strerror(-error)) +
                            " (see kernel.io_uring_disabled, RLIMIT_MEMLOCK)");
    }
    ring_ready_ = true;
    submit_accept();
    return {};
  }

  void run_once(std::chrono::milliseconds timeout) {
    if (left_) {
      excuse_all(std::chrono::steady_clock::now() - *left_);
    }
    if (!accepting_) {
      submit_accept();
    }
    if (options_.wake_fd >= 0 && !watching_) {
      submit_wake();
    }
    wait(timeout);
    handle_completions();
    expire(std::chrono::steady_clock::now());
    io_uring_submit(&ring_);
    left_ = std::chrono::steady_clock::now();
  }

 private:
  // Returns false where the queue has no room; it is longer than all that can be under way at once.
  template <class Prepare>
  bool submit(Operation operation, std::size_t client, Prepare prepare) {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    if (sqe == nullptr) {
      io_uring_submit(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    if (sqe == nullptr) {
      return false;
    }
    prepare(sqe);
    io_uring_sqe_set_data64(sqe, tag_of(operation, client));
    return true;
  }

  void submit_accept() {
    accepting_ = submit(Operation::accept, 0, [this](io_uring_sqe* sqe) {
      io_uring_prep_multishot_accept(sqe, listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    });
  }

  void submit_wake() {
    watching_ = submit(Operation::wake, 0, [this](io_uring_sqe* sqe) {
      io_uring_prep_poll_add(sqe, options_.wake_fd, POLLIN);
    });
  }

  void submit_receive(std::size_t index) {
    Session& client = sessions_[index];
    client.in_flight = submit(Operation::receive, index, [&client](io_uring_sqe* sqe) {
      io_uring_prep_recv(sqe, client.fd.get(), client.chunk.data(), client.chunk.size(), 0);
    });
    if (!client.in_flight) {
      drop(index, "no room in the submission queue");
    }
  }

  void submit_send(std::size_t index) {
    Session& client = sessions_[index];
    client.in_flight = submit(Operation::send, index, [&client](io_uring_sqe* sqe) {
      io_uring_prep_send(sqe, client.fd.get(), client.reply.data() + client.reply_sent,
                         client.reply.size() - client.reply_sent, MSG_NOSIGNAL);
    });
    if (!client.in_flight) {
      drop(index, "no room in the submission queue");
    }
  }

  void wait(std::chrono::milliseconds timeout) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
    __kernel_timespec spec{};
    spec.tv_sec = seconds.count();
    spec.tv_nsec = std::chrono::nanoseconds(timeout - seconds).count();
    io_uring_cqe* cqe = nullptr;
    io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &spec, nullptr);
  }

  void handle_completions() {
    io_uring_cqe* cqe = nullptr;
    while (io_uring_peek_cqe(&ring_, &cqe) == 0) {
      const std::uint64_t tag = io_uring_cqe_get_data64(cqe);
      const int result = cqe->res;
      const bool more = (cqe->flags & IORING_CQE_F_MORE) != 0;
      io_uring_cqe_seen(&ring_, cqe);
      const auto index = static_cast<std::size_t>(tag >> 8);
      switch (static_cast<Operation>(tag & 0xff)) {
        case Operation::accept:
          accepting_ = more;
          if (result >= 0) {
            accepted(FileDescriptor(result));
          }
          break;
        case Operation::receive:
          received(index, result);
          break;
        case Operation::send:
          sent(index, result);
          break;
        case Operation::wake:
          watching_ = false;
          options_.wake_fd = result < 0 ? -1 : options_.wake_fd;  // it cannot be waited for
          break;
      }
    }
  }

  void accepted(FileDescriptor fd) {
    waiting_.push_back({std::move(fd), std::chrono::steady_clock::now()});
    admit_waiting();
    if (waiting_.size() > waiting_max) {
      refuse_first();
    }
  }

  void admit_waiting() {
    const auto is_free = [](const Session& client) { return !client.fd; };
    while (!waiting_.empty()) {
      const auto place = std::find_if(sessions_.begin(), sessions_.end(), is_free);
      if (place == sessions_.end()) {
        return;
      }
      auto fd = std::move(waiting_.front().fd);
      waiting_.pop_front();
      admit(std::move(fd), static_cast<std::size_t>(place - sessions_.begin()));
    }
  }

  void admit(FileDescriptor fd, std::size_t index) {
    Session& client = sessions_[index];
    client.fd = std::move(fd);
    client.peer = peer_of(client.fd.get());
    client.idle_since = std::chrono::steady_clock::now();
    client.stuck_since = client.idle_since;
    spdlog::info("control: client connected (pid {}, uid {}, gid {})", client.peer.pid,
                 client.peer.uid, client.peer.gid);
    submit_receive(index);
  }

  static ucred peer_of(int fd) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return peer;
  }

  void refuse_first() {
    const int fd = waiting_.front().fd.get();
    const ucred peer = peer_of(fd);
    spdlog::warn("control: client refused, {} are connected (pid {}, uid {}, gid {})", clients_max,
                 peer.pid, peer.uid, peer.gid);
    const std::string busy =
        framed(reply_text(0, Failure{ErrorCode::busy, "too many clients; try again", {}}));
    // The reply fits the empty buffer of a new socket; if it does not, there is nobody to tell.
    if (send(fd, busy.data(), busy.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      spdlog::debug("control: refused client is gone");
    }
    waiting_.pop_front();
  }

  void received(std::size_t index, int result) {
    Session& client = sessions_[index];
    client.in_flight = false;
    if (client.closing || result <= 0) {
      return release(index);
    }
    if (!client.decoder.partial()) {
      client.stuck_since = std::chrono::steady_clock::now();
    }
    client.decoder.append({client.chunk.data(), static_cast<std::size_t>(result)});
    serve(index);
  }

  // Answers the next message that is whole, or waits for more of it.
  void serve(std::size_t index) {
    Session& client = sessions_[index];
    const auto message = client.decoder.next();
    if (client.decoder.broken()) {
      return drop(index, "announced a message that is empty or too long");
    }
    if (!message) {
      return submit_receive(index);
    }
    log_request(client, *message);
    const auto begun = std::chrono::steady_clock::now();
    client.reply = framed(dispatch(*message, backend_));
    client.reply_sent = 0;
    const auto now = std::chrono::steady_clock::now();
    excuse_all(now - begun);
    client.stuck_since = now;
    submit_send(index);
  }

  // No client is late while this server, or whoever runs it, is at something else: that may have
  // waited for a packet core.
  void excuse_all(SteadyTime::duration spent) {
    for (Session& client : sessions_) {
      client.stuck_since += spent;
      client.idle_since += spent;
    }
    for (auto& client : waiting_) {
      client.since += spent;
    }
  }

  static void log_request(const Session& client, std::string_view message) {
    const auto request = parse_request(message);
    if (request && changes_state(request->method)) {
      spdlog::info("control: {} by pid {}, uid {}", request->method, client.peer.pid,
                   client.peer.uid);
    }
  }

  void sent(std::size_t index, int result) {
    Session& client = sessions_[index];
    client.in_flight = false;
    if (client.closing || result <= 0) {
      return release(index);
    }
    client.reply_sent += static_cast<std::size_t>(result);
    if (client.reply_sent < client.reply.size()) {
      return submit_send(index);
    }
    client.reply = {};
    client.idle_since = client.stuck_since = std::chrono::steady_clock::now();
    serve(index);
  }

  void expire(SteadyTime now) {
    while (!waiting_.empty() && now - waiting_.front().since > place_patience) {
      refuse_first();
    }
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      const Session& client = sessions_[i];
      if (!client.fd || client.closing) {
        continue;
      }
      if (client.under_way() && now - client.stuck_since > options_.message_timeout) {
        drop(i, "too slow");
      } else if (!client.under_way() && now - client.idle_since > options_.idle_timeout) {
        drop(i, "silent for too long");
      }
    }
  }

  void drop(std::size_t index, std::string_view why) {
    Session& client = sessions_[index];
    spdlog::warn("control: client closed: {} (pid {}, uid {})", why, client.peer.pid,
                 client.peer.uid);
    client.closing = true;
    shutdown(client.fd.get(), SHUT_RDWR);  // this completes what is in flight
    if (!client.in_flight) {
      release(index);
    }
  }

  void release(std::size_t index) {
    Session& client = sessions_[index];
    spdlog::debug("control: client gone (pid {})", client.peer.pid);
    client = Session{};
    admit_waiting();
  }

  // Replies that are under way get a moment to leave, the one to `shutdown` first of all; then the
  // kernel is made to let go of every buffer.
  void drain() {
    waiting_.clear();
    run_while(drain_timeout, [](const Session& client) { return !client.reply.empty(); });
    for (Session& client : sessions_) {
      if (client.fd) {
        client.closing = true;
        shutdown(client.fd.get(), SHUT_RDWR);
      }
    }
    run_while(drain_timeout, [](const Session& client) { return client.in_flight; });
  }

  template <class Predicate>
  void run_while(std::chrono::milliseconds limit, Predicate predicate) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::any_of(sessions_.begin(), sessions_.end(), predicate) &&
           std::chrono::steady_clock::now() < end) {
      wait(std::chrono::milliseconds(10));
      handle_completions();
    }
  }

  ServerOptions options_;
  Listener listener_;
  Backend& backend_;
  io_uring ring_{};
  bool ring_ready_ = false;
  bool accepting_ = false;
  bool watching_ = false;
  std::optional<SteadyTime> left_;  // when run_once() was last over
  std::array<Session, clients_max> sessions_;
  std::deque<PendingConnection> waiting_;  // for a place
};

tl::expected<std::unique_ptr<Server>, std::string> Server::create(const ServerOptions& options,
                                                                  Backend& backend) {
  auto listener = Listener::create(options.socket, options.group);
  if (!listener) {
    return tl::unexpected(listener.error());
  }
  auto implementation = std::make_unique<Implementation>(options, std::move(*listener), backend);
  if (const auto started = implementation->start(); !started) {
    return tl::unexpected(started.error());
  }
  return std::unique_ptr<Server>(new Server(std::move(implementation)));
}

Server::Server(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

Server::~Server() = default;

void Server::run_once(std::chrono::milliseconds timeout) {
  implementation_->run_once(timeout);
}

}  // namespace tributary::control
