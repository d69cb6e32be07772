// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/uring_receiver.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "host/transport/address.h"

namespace tributary::host {
namespace {

constexpr unsigned buffer_count = 512;  // a power of two
constexpr int buffer_group = 0;

std::string needs_newer_kernel(const std::string& what, int error) {
  return what + ": " + std::generic_category().message(error) + "; Linux 6.0 or newer is needed";
}

}  // namespace

Result<void> UringReceiver::open(std::size_t datagram_bytes_max) {
  constexpr std::size_t slack = 64;  // so that an oversized datagram is seen as such
  constexpr std::size_t cache_line = 64;
  buffer_bytes_ = (sizeof(io_uring_recvmsg_out) + message_.msg_namelen + message_.msg_controllen +
                   datagram_bytes_max + slack + cache_line - 1) /
                  cache_line * cache_line;
  buffers_.resize(buffer_bytes_ * buffer_count);
  void* memory = nullptr;
  constexpr std::size_t page = 4096;
  if (::posix_memalign(&memory, page, buffer_count * sizeof(io_uring_buf)) != 0) {
    return fail(Error::Code::network, "no memory for the receive ring");
  }
  buffer_ring_.reset(static_cast<io_uring_buf_ring*>(memory));
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uint64_t>(memory);
  registration.ring_entries = buffer_count;
  registration.bgid = buffer_group;
  if (const int error = io_uring_register_buf_ring(&ring_, &registration, 0); error != 0) {
    return fail(Error::Code::network, needs_newer_kernel("io_uring provided buffers", -error));
  }
  io_uring_buf_ring_init(buffer_ring_.get());
  for (unsigned buffer = 0; buffer < buffer_count; ++buffer) {
    taken_buffers_.push_back(buffer);
  }
  recycle();
  return {};
}

void UringReceiver::arm() {
  const auto here = std::this_thread::get_id();
  if ((armed_ && armed_by_ == here) || io_uring_sq_space_left(&ring_) < 2) {
    return;  // where the queue is full, there is another occasion after it was submitted
  }
  if (armed_) {
    auto* const call_off = io_uring_get_sqe(&ring_);
    io_uring_prep_cancel64(call_off, user_data(), 0);
    io_uring_sqe_set_data64(call_off, ignored_tag);
  }
  ++generation_;
  ++outstanding_;
  armed_by_ = here;
  auto* const sqe = io_uring_get_sqe(&ring_);
  io_uring_prep_recvmsg_multishot(sqe, socket_fd_, &message_, 0);
  sqe->flags |= IOSQE_BUFFER_SELECT;
  sqe->buf_group = buffer_group;
  io_uring_sqe_set_data64(sqe, user_data());
  armed_ = true;
}

Result<void> UringReceiver::complete(const io_uring_cqe& cqe) {
  if ((cqe.flags & IORING_CQE_F_MORE) == 0) {
    --outstanding_;
    armed_ = armed_ && cqe.user_data != user_data();
  }
  if (cqe.res == -EINVAL || cqe.res == -EBADF || cqe.res == -EOPNOTSUPP) {
    return fail(Error::Code::network, needs_newer_kernel("io_uring multishot receive", -cqe.res));
  }
  // Without buffers (ENOBUFS) it is armed again as soon as some are back; neither a signal nor an
  // ICMP error is a reason to stop.
  if (cqe.res < 0 || (cqe.flags & IORING_CQE_F_BUFFER) == 0) {
    return {};
  }
  const unsigned buffer = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
  arrived_buffers_.push_back(buffer);
  auto* const out =
      io_uring_recvmsg_validate(buffers_.data() + buffer * buffer_bytes_, cqe.res, &message_);
  if (out != nullptr) {
    const auto length = io_uring_recvmsg_payload_length(out, cqe.res, &message_);
    const auto told = std::min(out->namelen, message_.msg_namelen);  // what did not fit counts, too
    arrived_.push_back({{static_cast<std::byte*>(io_uring_recvmsg_payload(out, &message_)), length},
                        ecn_of(io_uring_recvmsg_cmsg_firsthdr(out, &message_)),
                        from_name(io_uring_recvmsg_name(out), told)});
  }
  return {};
}

std::span<const Arrival> UringReceiver::take() {
  recycle();
  std::swap(taken_, arrived_);
  std::swap(taken_buffers_, arrived_buffers_);
  return taken_;
}

void UringReceiver::recycle() {
  int count = 0;
  for (const auto buffer : taken_buffers_) {
    io_uring_buf_ring_add(buffer_ring_.get(), buffers_.data() + buffer * buffer_bytes_,
                          static_cast<unsigned>(buffer_bytes_), static_cast<unsigned short>(buffer),
                          io_uring_buf_ring_mask(buffer_count), count++);
  }
  io_uring_buf_ring_advance(buffer_ring_.get(), count);
  taken_buffers_.clear();
  taken_.clear();
}

}  // namespace tributary::host
