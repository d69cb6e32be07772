// SPDX-License-Identifier: BSD-3-Clause
#include "host/uring_transport.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <system_error>
#include <utility>
#include <vector>

#include <liburing.h>

#include "host/address.h"
#include "wire/canary.h"
#include "wire/ethernet.h"

namespace tributary::host {
namespace {

constexpr unsigned send_slots = 256;
constexpr unsigned receive_buffers = 512;  // a power of two
constexpr unsigned queue_entries = 512;
constexpr int buffer_group = 0;
constexpr std::uint64_t receive_tag = send_slots;  // user data; below are the send slots
constexpr std::uint64_t cancel_tag = send_slots + 1;

std::string text_of(int error) {
  return std::generic_category().message(error);
}

bool is_transient(int error) {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR;
}

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};

__kernel_timespec timespec_until(Time until) {
  using std::chrono::nanoseconds;
  const auto left = std::max<std::int64_t>(
      std::chrono::duration_cast<nanoseconds>(until - Clock::now()).count(), 0);
  return __kernel_timespec{left / 1'000'000'000, left % 1'000'000'000};
}

}  // namespace

struct UringTransport::Ring {
  struct SendSlot {
    wire::CanaryHeader header;
    iovec parts[2];
    union {
      sockaddr_in internet;
      sockaddr_ll link;
    } destination;
    msghdr message;
  };

  explicit Ring(DatagramSocket opened) : socket(std::move(opened)) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  Result<void> open(std::size_t payload_bytes);
  Result<void> provide_buffers(std::size_t payload_bytes);
  void provide(unsigned buffer);
  void recycle();
  io_uring_sqe* take_sqe();
  void arm_receive();
  void queue_sends(Outbox& outbox);
  void prepare_send(unsigned slot, const Datagram& datagram);
  void submit_send(unsigned slot);
  Result<void> submit();
  Result<void> reap();
  void on_received(const io_uring_cqe& cqe);
  void on_sent(unsigned slot, int result);
  Result<void> wait(Time until);

  DatagramSocket socket;
  io_uring ring{};
  bool open_ = false;
  std::unique_ptr<io_uring_buf_ring, FreeDeleter> buffer_ring;
  std::vector<std::byte> buffers;
  std::size_t buffer_bytes = 0;
  msghdr receive_message{};
  bool receiving = false;
  std::vector<wire::MutableBytes> arrived;  // not yet handed out
  std::vector<wire::MutableBytes> handed;   // of the last exchange()
  std::vector<unsigned> arrived_buffers;
  std::vector<unsigned> handed_buffers;
  std::vector<SendSlot> slots = std::vector<SendSlot>(send_slots);
  std::vector<unsigned> free_slots;
  std::vector<unsigned> retries;
  std::uint64_t refused = 0;
  int last_refusal = 0;
  std::optional<Error> fatal;
};

UringTransport::Ring::~Ring() {
  if (!open_) {
    return;
  }
  // The kernel must have let go of buffers and payloads before they are freed.
  if (auto* sqe = io_uring_get_sqe(&ring); sqe != nullptr) {
    io_uring_prep_cancel(sqe, nullptr, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
    io_uring_sqe_set_data64(sqe, cancel_tag);
    const auto until = Clock::now() + std::chrono::milliseconds(200);
    (void)submit();
    while ((receiving || free_slots.size() < send_slots) && Clock::now() < until) {
      if (!wait(until) || !reap()) {
        break;
      }
    }
  }
  io_uring_queue_exit(&ring);
}

Result<void> UringTransport::Ring::open(std::size_t payload_bytes) {
  // COOP_TASKRUN: completions are worked off when this thread enters the kernel anyway, without
  // an interrupt. Older kernels do without.
  int error = io_uring_queue_init(queue_entries, &ring, IORING_SETUP_COOP_TASKRUN);
  if (error == -EINVAL) {
    error = io_uring_queue_init(queue_entries, &ring, 0);
  }
  if (error != 0) {
    return fail(Error::Code::network,
                "io_uring is not available: " + text_of(-error) +
                    "; Linux 6.0 or newer is needed, and kernel.io_uring_disabled = 0 (a "
                    "container's seccomp profile may forbid it, too)");
  }
  open_ = true;
  for (unsigned slot = 0; slot < send_slots; ++slot) {
    free_slots.push_back(send_slots - 1 - slot);
  }
  return provide_buffers(payload_bytes);
}

Result<void> UringTransport::Ring::provide_buffers(std::size_t payload_bytes) {
  constexpr std::size_t slack = 64;  // so that an oversized datagram is seen as such
  buffer_bytes =
      (sizeof(io_uring_recvmsg_out) + sizeof(wire::CanaryHeader) + payload_bytes + slack + 63) /
      64 * 64;
  buffers.resize(buffer_bytes * receive_buffers);
  void* memory = nullptr;
  if (::posix_memalign(&memory, 4096, receive_buffers * sizeof(io_uring_buf)) != 0) {
    return fail(Error::Code::network, "no memory for the receive ring");
  }
  buffer_ring.reset(static_cast<io_uring_buf_ring*>(memory));
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uint64_t>(memory);
  registration.ring_entries = receive_buffers;
  registration.bgid = buffer_group;
  if (const int error = io_uring_register_buf_ring(&ring, &registration, 0); error != 0) {
    return fail(Error::Code::network, "io_uring has no provided buffers: " + text_of(-error) +
                                          "; Linux 6.0 or newer is needed");
  }
  io_uring_buf_ring_init(buffer_ring.get());
  for (unsigned buffer = 0; buffer < receive_buffers; ++buffer) {
    handed_buffers.push_back(buffer);
  }
  recycle();
  arm_receive();
  return submit();
}

// Gives the buffers of the last exchange() back to the kernel.
void UringTransport::Ring::recycle() {
  int count = 0;
  for (const auto buffer : handed_buffers) {
    io_uring_buf_ring_add(buffer_ring.get(), buffers.data() + buffer * buffer_bytes,
                          static_cast<unsigned>(buffer_bytes), static_cast<unsigned short>(buffer),
                          io_uring_buf_ring_mask(receive_buffers), count++);
  }
  io_uring_buf_ring_advance(buffer_ring.get(), count);
  handed_buffers.clear();
  handed.clear();
}

// The queue holds more entries than can be prepared between two submissions.
io_uring_sqe* UringTransport::Ring::take_sqe() {
  auto* sqe = io_uring_get_sqe(&ring);
  if (sqe == nullptr) {
    io_uring_submit(&ring);
    sqe = io_uring_get_sqe(&ring);
  }
  return sqe;
}

void UringTransport::Ring::arm_receive() {
  auto* sqe = take_sqe();
  if (sqe == nullptr) {
    return;
  }
  io_uring_prep_recvmsg_multishot(sqe, socket.fd.get(), &receive_message, 0);
  sqe->flags |= IOSQE_BUFFER_SELECT;
  sqe->buf_group = buffer_group;
  io_uring_sqe_set_data64(sqe, receive_tag);
  receiving = true;
}

void UringTransport::Ring::queue_sends(Outbox& outbox) {
  for (const auto slot : std::exchange(retries, {})) {
    submit_send(slot);
  }
  while (!outbox.empty() && !free_slots.empty()) {
    const auto slot = free_slots.back();
    free_slots.pop_back();
    prepare_send(slot, outbox.front());
    submit_send(slot);
    outbox.pop();
  }
}

void UringTransport::Ring::prepare_send(unsigned slot, const Datagram& datagram) {
  auto& send = slots[slot];
  send.header = datagram.header;
  send.parts[0] = {&send.header, sizeof send.header};
  // sendmsg does not write there; iovec serves both directions.
  send.parts[1] = {const_cast<std::byte*>(datagram.payload.data()), datagram.payload.size()};
  send.message = {};
  send.message.msg_iov = send.parts;
  send.message.msg_iovlen = 2;
  send.message.msg_name = &send.destination;
  if (socket.interface_index == 0) {
    send.destination.internet = to_sockaddr(datagram.destination);
    send.message.msg_namelen = sizeof send.destination.internet;
    return;
  }
  auto& link = send.destination.link;
  link = {};
  link.sll_family = AF_PACKET;
  link.sll_protocol = std::bit_cast<std::uint16_t>(wire::be16{wire::ethertype::canary});
  link.sll_ifindex = socket.interface_index;
  link.sll_halen = sizeof(wire::MacAddress);
  std::copy(wire::canary_group_mac.octets.begin(), wire::canary_group_mac.octets.end(),
            link.sll_addr);
  send.message.msg_namelen = sizeof link;
}

void UringTransport::Ring::submit_send(unsigned slot) {
  auto* sqe = take_sqe();
  if (sqe == nullptr) {
    retries.push_back(slot);
    return;
  }
  io_uring_prep_sendmsg(sqe, socket.fd.get(), &slots[slot].message, 0);
  io_uring_sqe_set_data64(sqe, slot);
}

Result<void> UringTransport::Ring::submit() {
  if (io_uring_sq_ready(&ring) == 0) {
    return {};
  }
  const int result = io_uring_submit(&ring);
  if (result < 0 && !is_transient(-result) && result != -EBUSY) {
    return fail(Error::Code::network, "io_uring submission: " + text_of(-result));
  }
  return {};
}

Result<void> UringTransport::Ring::reap() {
  io_uring_cqe* completions[64];
  unsigned count = 0;
  while ((count = io_uring_peek_batch_cqe(&ring, completions, std::size(completions))) != 0) {
    for (unsigned i = 0; i < count; ++i) {
      const auto tag = completions[i]->user_data;
      if (tag == receive_tag) {
        on_received(*completions[i]);
      } else if (tag < send_slots) {
        on_sent(static_cast<unsigned>(tag), completions[i]->res);
      }
    }
    io_uring_cq_advance(&ring, count);
  }
  if (fatal) {
    return tl::make_unexpected(*fatal);
  }
  return {};
}

void UringTransport::Ring::on_received(const io_uring_cqe& cqe) {
  if ((cqe.flags & IORING_CQE_F_MORE) == 0) {
    receiving = false;
  }
  if (cqe.res < 0) {
    // Without buffers it is armed again as soon as some are back; a signal or an ICMP error is no
    // reason to stop either.
    if (cqe.res == -EINVAL || cqe.res == -EBADF || cqe.res == -EOPNOTSUPP) {
      fatal = Error{Error::Code::network, "io_uring multishot receive: " + text_of(-cqe.res) +
                                              "; Linux 6.0 or newer is needed"};
    }
    return;
  }
  if ((cqe.flags & IORING_CQE_F_BUFFER) == 0) {
    return;
  }
  const unsigned buffer = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
  arrived_buffers.push_back(buffer);
  auto* start = buffers.data() + buffer * buffer_bytes;
  auto* out = io_uring_recvmsg_validate(start, cqe.res, &receive_message);
  if (out == nullptr) {
    return;
  }
  const auto length = io_uring_recvmsg_payload_length(out, cqe.res, &receive_message);
  arrived.emplace_back(static_cast<std::byte*>(io_uring_recvmsg_payload(out, &receive_message)),
                       length);
}

void UringTransport::Ring::on_sent(unsigned slot, int result) {
  if (result < 0 && is_transient(-result)) {
    retries.push_back(slot);
    return;
  }
  free_slots.push_back(slot);
  if (result >= 0) {
    return;
  }
  ++refused;
  last_refusal = -result;
  if (result == -EMSGSIZE) {
    fatal = Error{Error::Code::network,
                  "a packet is larger than the MTU of the path; set the MTU of the communicator "
                  "(TRIBUTARY_MTU) to the smallest one on the way"};
  }
}

Result<void> UringTransport::Ring::wait(Time until) {
  auto timeout = timespec_until(until);
  io_uring_cqe* cqe = nullptr;
  const int result = io_uring_wait_cqe_timeout(&ring, &cqe, &timeout);
  if (result < 0 && result != -ETIME && result != -EINTR && result != -EAGAIN) {
    return fail(Error::Code::network, "io_uring wait: " + text_of(-result));
  }
  return {};
}

UringTransport::UringTransport(std::unique_ptr<Ring> ring) : ring_(std::move(ring)) {}
UringTransport::UringTransport(UringTransport&&) noexcept = default;
UringTransport& UringTransport::operator=(UringTransport&&) noexcept = default;
UringTransport::~UringTransport() = default;

Result<UringTransport> UringTransport::create(DatagramSocket socket, std::size_t payload_bytes) {
  auto ring = std::make_unique<Ring>(std::move(socket));
  if (auto opened = ring->open(payload_bytes); !opened) {
    return tl::make_unexpected(opened.error());
  }
  return UringTransport(std::move(ring));
}

Result<std::span<const wire::MutableBytes>> UringTransport::exchange(Outbox& outbox, Time until) {
  auto& ring = *ring_;
  ring.recycle();
  if (!ring.receiving) {
    ring.arm_receive();
  }
  const bool was_full = outbox.full();
  ring.queue_sends(outbox);
  auto done = ring.submit().and_then([&] { return ring.reap(); });
  // The machine has more to say when its outbox was full.
  const bool idle = ring.arrived.empty() && ring.retries.empty() && !(was_full && !outbox.full());
  if (done && idle && ring.receiving) {
    done = ring.wait(until).and_then([&] { return ring.reap(); });
  }
  if (!done) {
    return tl::make_unexpected(done.error());
  }
  std::swap(ring.handed, ring.arrived);
  std::swap(ring.handed_buffers, ring.arrived_buffers);
  return std::span<const wire::MutableBytes>(ring.handed);
}

Result<void> UringTransport::flush(Time until) {
  auto& ring = *ring_;
  Outbox none(1);
  while (ring.free_slots.size() < send_slots) {
    if (Clock::now() >= until) {
      return fail(Error::Code::network, "the socket does not take what is to be sent");
    }
    ring.queue_sends(none);
    auto done = ring.submit().and_then([&] { return ring.reap(); });
    if (done && ring.free_slots.size() < send_slots && ring.retries.empty()) {
      done = ring.wait(until).and_then([&] { return ring.reap(); });
    }
    if (!done) {
      return done;
    }
  }
  return {};
}

const DatagramSocket& UringTransport::socket() const {
  return ring_->socket;
}

std::string UringTransport::trouble() const {
  if (ring_->refused == 0) {
    return {};
  }
  return std::to_string(ring_->refused) + " packets could not be sent (" +
         text_of(ring_->last_refusal) + ")";
}

}  // namespace tributary::host
