// SPDX-License-Identifier: BSD-3-Clause
// Loaded into a program (LD_PRELOAD), counts the allocations of each of its threads, for others to
// read while it runs: in the file that TRIBUTARY_ALLOCATIONS names, pairs of 64-bit numbers, a
// thread's id and its count.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose_allocations.h"

namespace tributary::perf {
namespace {

constexpr std::size_t threads_max = 256;

struct Row {
  std::atomic<std::int64_t> thread;
  std::atomic<std::uint64_t> allocations;
};

Row* board = nullptr;
std::atomic<std::size_t> rows_taken{0};
// Of the static kind: a thread's first use of the other allocates.
[[gnu::tls_model("initial-exec")]] thread_local Row* own = nullptr;

[[gnu::constructor]] void open_board() {
  const char* path = std::getenv("TRIBUTARY_ALLOCATIONS");
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return;
  }
  constexpr auto bytes = threads_max * sizeof(Row);
  if (ftruncate(file, bytes) == 0) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    board = memory == MAP_FAILED ? nullptr : static_cast<Row*>(memory);
  }
  close(file);
}

}  // namespace

void note_allocation() noexcept {
  if (board == nullptr) {
    return;
  }
  if (own == nullptr) {
    const auto row = rows_taken.fetch_add(1);
    if (row >= threads_max) {
      return;
    }
    own = board + row;
    own->thread = gettid();
  }
  own->allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tributary::perf
