// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/connection.h"

#include <string>

#include "bindings/nccl/log.h"

namespace tributary::nccl {

Transfer* Connection::post(void* data, std::uint64_t bytes) {
  transfers_.push_back(std::make_unique<Transfer>());
  auto* const transfer = transfers_.back().get();
  transfer->connection = this;
  transfer->data = static_cast<std::byte*>(data);
  transfer->bytes = bytes;
  transfer->header = bytes;
  get_on();
  return transfer;
}

Result Connection::test(Transfer& transfer, int* done, int* bytes) {
  get_on();
  *done = transfer.is_done ? 1 : 0;
  if (!transfer.is_done) {
    return result_;
  }
  if (bytes != nullptr) {
    *bytes = static_cast<int>(transfer.bytes);
  }
  std::erase_if(transfers_, [&](const auto& one) { return one.get() == &transfer; });
  return Result::success;
}

void Connection::get_on() {
  for (const auto& transfer : transfers_) {
    if (!transfer->is_done && !get_on(*transfer)) {
      return;
    }
  }
}

// Returns false if the transfers behind this one have to wait.
bool Connection::get_on(Transfer& transfer) {
  std::size_t moved = 0;
  if (result_ != Result::success || !is_header_moved(transfer)) {
    return false;
  }
  while (transfer.moved != transfer.bytes) {
    if (!move(transfer.data + transfer.moved, transfer.bytes - transfer.moved, moved)) {
      return false;
    }
    transfer.moved += moved;
  }
  transfer.is_done = true;
  return true;
}

// The header is sent as it is: hosts of one job have one order of bytes.
bool Connection::is_header_moved(Transfer& transfer) {
  std::size_t moved = 0;
  while (transfer.header_moved != sizeof transfer.header) {
    if (!move(reinterpret_cast<std::byte*>(&transfer.header) + transfer.header_moved,
              sizeof transfer.header - transfer.header_moved, moved)) {
      return false;
    }
    transfer.header_moved += moved;
  }
  if (transfer.header > transfer.bytes) {
    warn("a rank sends " + std::to_string(transfer.header) + " bytes where another one takes " +
         std::to_string(transfer.bytes));
    result_ = Result::invalid_usage;
    return false;
  }
  transfer.bytes = transfer.header;
  return true;
}

bool Connection::move(void* data, std::size_t bytes, std::size_t& moved) {
  const auto now =
      side_ == Side::sends ? send_some(socket_, data, bytes) : receive_some(socket_, data, bytes);
  moved = now.bytes;
  if (now.is_over) {
    warn("the connection to another rank broke, or that rank has ended");
    result_ = Result::remote_error;
  }
  return moved != 0;
}

}  // namespace tributary::nccl
