// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/nccl/abi.h"
#include "bindings/nccl/socket.h"

namespace tributary::nccl {

class Connection;

// A Transfer is a message on its way: its bytes behind their number.
struct Transfer {
  Connection* connection = nullptr;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;  // for a receiver: what there is room for, until the number is known
  std::uint64_t header = 0;
  std::size_t header_moved = 0;
  std::uint64_t moved = 0;
  bool is_done = false;
};

// A Connection goes from one rank to another, in one direction. One thread at a time uses it;
// nothing goes on but in its calls.
class Connection {
 public:
  enum class Side { sends, receives };
  Connection(Socket socket, Side side) : socket_(std::move(socket)), side_(side) {}

  Transfer* post(void* data, std::uint64_t bytes);
  Result test(Transfer& transfer, int* done, int* bytes);

 private:
  void get_on();
  bool get_on(Transfer& transfer);
  bool move(void* data, std::size_t bytes, std::size_t& moved);
  bool is_header_moved(Transfer& transfer);

  const Socket socket_;
  const Side side_;
  Result result_ = Result::success;
  std::vector<std::unique_ptr<Transfer>> transfers_;  // in their order, until they are asked for
};

}  // namespace tributary::nccl
