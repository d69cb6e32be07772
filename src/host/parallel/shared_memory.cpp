// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/shared_memory.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "host/transport/address.h"
#include "host/transport/tcp.h"

namespace tributary::host {
namespace {

Error broken(const char* what) {
  return Error{Error::Code::internal, errno_text(what)};
}

// One byte with room for one descriptor beside it.
struct DescriptorMessage {
  DescriptorMessage() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
};

}  // namespace

Result<SharedMemory> SharedMemory::create(std::size_t bytes) {
  // Nobody can pull the memory away from under the others.
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  FileDescriptor memory(::memfd_create("tributary", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, seals) != 0) {
    return tl::make_unexpected(broken("memory for the ranks of this machine"));
  }
  return map(std::move(memory), bytes);
}

Result<SharedMemory> SharedMemory::map(FileDescriptor memory, std::size_t bytes) {
  struct stat status {};
  if (::fstat(memory.get(), &status) != 0 || status.st_size != static_cast<off_t>(bytes)) {
    return fail(Error::Code::mismatch,
                "the shared memory has another size than here: all ranks of a machine need the "
                "same version of the library");
  }
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (data == MAP_FAILED) {
    return tl::make_unexpected(broken("memory for the ranks of this machine"));
  }
  return SharedMemory(std::move(memory), static_cast<std::byte*>(data), bytes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : memory_(std::move(other.memory_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) {
    ::munmap(data_, bytes_);
  }
}

Result<void> send_descriptor(int socket, int descriptor, Time until) {
  DescriptorMessage carrier;
  cmsghdr* const header = CMSG_FIRSTHDR(&carrier.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (!wait_for(socket, POLLOUT, until) || ::sendmsg(socket, &carrier.message, MSG_NOSIGNAL) != 1) {
    return tl::make_unexpected(broken("cannot hand memory to a rank of this machine"));
  }
  return {};
}

Result<FileDescriptor> receive_descriptor(int socket, Time until) {
  DescriptorMessage carrier;
  if (!wait_for(socket, POLLIN, until)) {
    return fail(Error::Code::timeout,
                "local rank 0 is there, but not all ranks of this machine came by the deadline");
  }
  const bool arrived = ::recvmsg(socket, &carrier.message, MSG_CMSG_CLOEXEC) == 1;
  const cmsghdr* const header = arrived ? CMSG_FIRSTHDR(&carrier.message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    return fail(Error::Code::rendezvous, "local rank 0 refused; its error says why");
  }
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return FileDescriptor(descriptor);
}

}  // namespace tributary::host
