// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/star.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <utility>

namespace tributary::nccl {
namespace {

// A rank begins with its Introduction. What it has to tell is behind it.
struct Introduction {
  Token token{};
  std::uint32_t rank = 0;
  std::uint32_t bytes = 0;
};

using Clock = std::chrono::steady_clock;

// Returns false when the time is over.
bool wait(std::vector<pollfd> what, Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  return left.count() > 0 && ::poll(what.data(), what.size(), static_cast<int>(left.count())) != 0;
}

template <typename Move>
bool move_all(const Socket& socket, short event, std::byte* data, std::size_t bytes,
              Clock::time_point until, Move move) {
  while (bytes != 0) {
    const Moved moved = move(socket, data, bytes);
    data += moved.bytes;
    bytes -= moved.bytes;
    if (moved.is_over || (moved.bytes == 0 && !wait({{socket.get(), event, 0}}, until))) {
      return false;
    }
  }
  return true;
}

bool send_all(const Socket& socket, const std::byte* data, std::size_t bytes,
              Clock::time_point until) {
  return move_all(socket, POLLOUT, const_cast<std::byte*>(data), bytes, until, send_some);
}

bool receive_all(const Socket& socket, std::byte* data, std::size_t bytes,
                 Clock::time_point until) {
  return move_all(socket, POLLIN, data, bytes, until, receive_some);
}

}  // namespace

int Star::allgather(void* self, const void* in, void* out, std::size_t bytes) {
  auto& star = *static_cast<Star*>(self);
  star.until_ = Clock::now() + star.patience_;
  auto* const all = static_cast<std::byte*>(out);
  return (star.rank_ == 0 ? star.host(in, all, bytes) : star.visit(in, all, bytes)) ? 0 : 1;
}

bool Star::fail(std::string why) {
  failure_ = std::move(why);
  return false;
}

bool Star::host(const void* in, std::byte* out, std::size_t bytes) {
  others_.resize(ranks_);
  std::memcpy(out, in, bytes);
  std::vector<Guest> guests;
  std::uint32_t missing = ranks_ - 1;
  while (missing != 0) {
    std::vector<pollfd> what{{listener_.socket().get(), POLLIN, 0}};
    for (const auto& guest : guests) {
      what.push_back({guest.socket().get(), POLLIN, 0});
    }
    if (!wait(std::move(what), until_)) {
      return fail(std::to_string(missing) + " of " + std::to_string(ranks_) +
                  " ranks did not come to rank 0 in time");
    }
    while (auto socket = accept_from(listener_.socket())) {
      guests.emplace_back(std::move(socket), sizeof(Introduction) + bytes);
    }
    std::erase_if(guests, [&](Guest& guest) {
      const auto state = guest.hear();
      missing -= state == Guest::State::has_spoken && believe(guest, out, bytes) ? 1 : 0;
      return state != Guest::State::speaks;
    });
  }
  return tell_all(out, ranks_ * bytes);
}

// Only a rank that has this communicator's handle is believed, and each rank once.
bool Star::believe(Guest& guest, std::byte* out, std::size_t bytes) {
  Introduction introduction;
  std::memcpy(&introduction, guest.said().data(), sizeof introduction);
  const auto rank = introduction.rank;
  if (!is_same(introduction.token, listener_.token()) || introduction.bytes != bytes || rank == 0 ||
      rank >= ranks_ || others_[rank]) {
    return false;
  }
  std::memcpy(out + rank * bytes, guest.said().data() + sizeof introduction, bytes);
  others_[rank] = guest.take();
  return true;
}

bool Star::tell_all(const std::byte* all, std::size_t bytes) {
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
    if (!send_all(others_[rank], all, bytes, until_)) {
      return fail("rank " + std::to_string(rank) + " went away");
    }
  }
  return true;
}

bool Star::visit(const void* in, std::byte* out, std::size_t bytes) {
  const auto socket = start_to_connect(first_.place());
  std::vector<std::byte> said(sizeof(Introduction) + bytes);
  const Introduction introduction{first_.token, rank_, static_cast<std::uint32_t>(bytes)};
  std::memcpy(said.data(), &introduction, sizeof introduction);
  std::memcpy(said.data() + sizeof introduction, in, bytes);
  auto connecting = socket ? Connecting::yet : Connecting::failed;
  // A signal ends a wait early.
  while (connecting == Connecting::yet && wait({{socket.get(), POLLOUT, 0}}, until_)) {
    connecting = look_at(socket);
  }
  if (connecting != Connecting::done || !send_all(socket, said.data(), said.size(), until_)) {
    return fail("rank 0 cannot be reached at the address of its handle");
  }
  if (!receive_all(socket, out, ranks_ * bytes, until_)) {
    return fail("rank 0 did not tell who has come: a rank is missing, or rank 0 went away");
  }
  return true;
}

}  // namespace tributary::nccl
