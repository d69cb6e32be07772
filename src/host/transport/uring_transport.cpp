// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/uring_transport.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>
#include <vector>

#include <liburing.h>

#include "host/transport/address.h"
#include "host/transport/uring_receiver.h"
#include "host/transport/uring_sender.h"

namespace tributary::host {
namespace {

constexpr unsigned queue_entries = 512;  // sends, the receive, and some more
constexpr std::uint32_t receive_tag = UringSender::slot_count;
static_assert(queue_entries > receive_tag + 2);

std::string text_of(int error) {
  return std::generic_category().message(error);
}

__kernel_timespec timespec_until(Time until) {
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
  const auto ns = std::max<std::int64_t>(left.count(), 0);
  constexpr std::int64_t second = 1'000'000'000;
  return __kernel_timespec{ns / second, ns % second};
}

}  // namespace

struct UringTransport::State {
  explicit State(DatagramSocket datagram_socket)
      : socket(std::move(datagram_socket)),
        sender(ring, socket),
        receiver(ring, socket, receive_tag) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  Result<void> open(std::size_t datagram_bytes_max);
  Result<void> submit();
  Result<void> reap();
  Result<void> wait(Time until);
  void read_socket();

  DatagramSocket socket;
  io_uring ring{};
  bool opened = false;
  UringSender sender;
  UringReceiver receiver;
  std::vector<std::byte> buffer;  // for one datagram, of attend()
  std::vector<Arrival> attended;
};

// The kernel must have let go of buffers and payloads before they are freed.
UringTransport::State::~State() {
  if (!opened) {
    return;
  }
  constexpr auto patience = std::chrono::milliseconds(200);
  const auto until = Clock::now() + patience;
  if (auto* const sqe = io_uring_get_sqe(&ring); sqe != nullptr) {
    io_uring_prep_cancel(sqe, nullptr, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
    io_uring_sqe_set_data64(sqe, UringReceiver::ignored_tag);
  }
  auto done = submit();
  while (done && (!receiver.idle() || !sender.idle()) && Clock::now() < until) {
    done = wait(until).and_then([this] { return reap(); });
  }
  io_uring_queue_exit(&ring);
}

Result<void> UringTransport::State::open(std::size_t datagram_bytes_max) {
  // COOP_TASKRUN: completions are worked off when this thread enters the kernel anyway, without an
  // interrupt.
  const int error = io_uring_queue_init(queue_entries, &ring, IORING_SETUP_COOP_TASKRUN);
  if (error != 0) {
    return fail(Error::Code::network,
                "io_uring is not available: " + text_of(-error) +
                    "; Linux 6.0 or newer is needed with kernel.io_uring_disabled = 0, and a "
                    "container's seccomp profile must allow it");
  }
  opened = true;
  constexpr std::size_t slack = 64;  // so that an oversized datagram is seen as such
  buffer.resize(datagram_bytes_max + slack);
  return receiver.open(datagram_bytes_max).and_then([this] {
    receiver.arm();
    return submit();
  });
}

Result<void> UringTransport::State::submit() {
  if (io_uring_sq_ready(&ring) == 0) {
    return {};
  }
  const int result = io_uring_submit(&ring);
  // What was not taken stays in the queue for the next time.
  if (result < 0 && result != -EAGAIN && result != -EBUSY && result != -EINTR) {
    return fail(Error::Code::network, "io_uring submission: " + text_of(-result));
  }
  return {};
}

Result<void> UringTransport::State::reap() {
  Result<void> outcome;
  io_uring_cqe* completions[64];
  unsigned count = 0;
  while ((count = io_uring_peek_batch_cqe(&ring, completions, std::size(completions))) != 0) {
    for (unsigned i = 0; i < count; ++i) {
      const auto tag = completions[i]->user_data;
      Result<void> done;
      if (receiver.is_own(tag)) {
        done = receiver.complete(*completions[i]);
      } else if (tag < UringSender::slot_count) {
        done = sender.complete(static_cast<unsigned>(tag), completions[i]->res);
      }
      if (!done) {
        outcome = done;
      }
    }
    io_uring_cq_advance(&ring, count);
  }
  return outcome;
}

Result<void> UringTransport::State::wait(Time until) {
  auto timeout = timespec_until(until);
  io_uring_cqe* cqe = nullptr;
  const int result = io_uring_wait_cqe_timeout(&ring, &cqe, &timeout);
  if (result < 0 && result != -ETIME && result != -EINTR && result != -EAGAIN) {
    return fail(Error::Code::network, "io_uring wait: " + text_of(-result));
  }
  return {};
}

UringTransport::UringTransport(std::unique_ptr<State> state) : state_(std::move(state)) {}
UringTransport::UringTransport(UringTransport&&) noexcept = default;
UringTransport& UringTransport::operator=(UringTransport&&) noexcept = default;
UringTransport::~UringTransport() = default;

Result<UringTransport> UringTransport::create(DatagramSocket socket,
                                              std::size_t datagram_bytes_max) {
  auto state = std::make_unique<State>(std::move(socket));
  if (auto opened = state->open(datagram_bytes_max); !opened) {
    return tl::make_unexpected(opened.error());
  }
  return UringTransport(std::move(state));
}

Result<std::span<const Arrival>> UringTransport::exchange(Outbox& outbox, Time until) {
  auto& state = *state_;
  state.receiver.recycle();
  state.receiver.arm();
  const bool was_full = outbox.full();
  state.sender.queue(outbox);
  auto done = state.submit().and_then([&] { return state.reap(); });
  // A machine whose outbox was full has more to say; without a receive nothing would wake us.
  const bool more_to_send =
      state.sender.retries() || (state.sender.has_room() && (was_full || !outbox.empty()));
  if (done && state.receiver.empty() && state.receiver.armed() && !more_to_send) {
    done = state.wait(until).and_then([&] { return state.reap(); });
  }
  if (!done) {
    return tl::make_unexpected(done.error());
  }
  return state.receiver.take();
}

void UringTransport::State::read_socket() {
  attended.clear();
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<std::byte, ecn_control_bytes> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  SocketName source;
  message.msg_name = source.get();
  message.msg_namelen = socket.tells_source ? source.bytes : 0;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const auto length = ::recvmsg(socket.fd.get(), &message, MSG_DONTWAIT);
  if (length > 0) {
    attended.push_back({{buffer.data(), static_cast<std::size_t>(length)},
                        ecn_of(CMSG_FIRSTHDR(&message)),
                        socket.tells_source ? from_sockaddr(source) : Endpoint{}});
  }
}

// The multishot receive belongs to the thread that started it: the kernel goes on with it only when
// that thread enters the kernel. So the socket is read here, and the receive is not armed.
Result<std::span<const Arrival>> UringTransport::attend(Outbox& outbox) {
  auto& state = *state_;
  state.receiver.recycle();
  state.sender.queue(outbox);
  if (auto done = state.submit().and_then([&] { return state.reap(); }); !done) {
    return tl::make_unexpected(done.error());
  }
  if (!state.receiver.empty()) {
    return state.receiver.take();
  }
  state.read_socket();
  return state.attended;
}

std::array<int, 2> UringTransport::descriptors() const {
  return {state_->socket.fd.get(), state_->ring.ring_fd};
}

Result<void> UringTransport::flush(Time until) {
  auto& state = *state_;
  Outbox none(1);
  while (!state.sender.idle()) {
    if (Clock::now() >= until) {
      return fail(Error::Code::network, "the socket does not take what is to be sent");
    }
    state.sender.queue(none);
    auto done = state.submit().and_then([&] { return state.reap(); });
    if (done && !state.sender.idle() && !state.sender.retries()) {
      done = state.wait(until).and_then([&] { return state.reap(); });
    }
    if (!done) {
      return done;
    }
  }
  return {};
}

const DatagramSocket& UringTransport::socket() const {
  return state_->socket;
}
std::string UringTransport::trouble() const {
  return state_->sender.trouble();
}
void UringTransport::forget_trouble() {
  state_->sender.forget_trouble();
}

}  // namespace tributary::host
