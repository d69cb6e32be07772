// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_memory.h"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <new>
#include <sys/mman.h>
#include <thread>

#include <rte_lcore.h>
#include <rte_rcu_qsbr.h>

namespace tributary::dataplane {
namespace {

// A thread that is so late does not come round again, and whoever unmaps has other work.
constexpr std::chrono::seconds patience{1};
constexpr std::chrono::microseconds between_looks{20};

constinit std::atomic<unsigned> users{0};
thread_local bool is_user = false;

// It is never freed: threads of DPDK and of libraries unmap as long as the process lives.
rte_rcu_qsbr* make_quiescence() {
  const auto size = rte_rcu_qsbr_get_memsize(RTE_MAX_LCORE);
  auto* made =
      static_cast<rte_rcu_qsbr*>(::operator new(size, std::align_val_t(RTE_CACHE_LINE_SIZE)));
  rte_rcu_qsbr_init(made, RTE_MAX_LCORE);
  return made;
}

rte_rcu_qsbr* quiescence() {
  static rte_rcu_qsbr* const made = make_quiescence();
  return made;
}

// A thread that begins a burst after this was called sees what its caller wrote before: for memif,
// that there is no connection any more.
void wait_for_users() {
  if (users.load() == 0 || is_user) {
    return;
  }
  const auto token = rte_rcu_qsbr_start(quiescence());
  const auto end = std::chrono::steady_clock::now() + patience;
  while (rte_rcu_qsbr_check(quiescence(), token, false) == 0 &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(between_looks);
  }
}

}  // namespace

DriverUser::DriverUser(unsigned number) : number_(number) {
  rte_rcu_qsbr_thread_register(quiescence(), number_);
  rte_rcu_qsbr_thread_online(quiescence(), number_);
  is_user = true;
  ++users;
}

DriverUser::~DriverUser() {
  --users;
  is_user = false;
  rte_rcu_qsbr_thread_offline(quiescence(), number_);
  rte_rcu_qsbr_thread_unregister(quiescence(), number_);
}

void DriverUser::between_bursts() const {
  rte_rcu_qsbr_quiescent(quiescence(), number_);
}

void DriverUser::leave() const {
  rte_rcu_qsbr_thread_offline(quiescence(), number_);
}

void DriverUser::come_back() const {
  rte_rcu_qsbr_thread_online(quiescence(), number_);
}

}  // namespace tributary::dataplane

// This function takes the place of libc's for this program and all of its libraries, the drivers
// among them: the dynamic linker looks into the program first. The driver offers no other way in
// between "this connection is closed" and "its memory is gone": it has no callback there, and its
// lock is its own.
extern "C" int munmap(void* address, std::size_t length) noexcept {
  using Munmap = int (*)(void*, std::size_t);
  static const auto real = reinterpret_cast<Munmap>(dlsym(RTLD_NEXT, "munmap"));
  tributary::dataplane::wait_for_users();
  return real(address, length);
}
