// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/seating.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

#include <sodium/crypto_generichash.h>

namespace tributary::host {
namespace {

// Returns an id that is another one each time that a kernel boots.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

}  // namespace

std::uint64_t machine_number(const std::string& given_address) {
  struct stat network {};
  const auto boot = boot_id();
  if (boot.empty() || ::stat("/proc/self/ns/net", &network) != 0) {
    return 0;
  }
  const auto text = boot + " " + std::to_string(network.st_dev) + " " +
                    std::to_string(network.st_ino) + " " + std::to_string(::geteuid()) + " " +
                    given_address;
  unsigned char hash[crypto_generichash_BYTES_MIN];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(text.data()),
                     text.size(), nullptr, 0);
  std::uint64_t number = 0;
  std::memcpy(&number, hash, sizeof number);
  return number | 1;
}

Seating::Seating(std::span<const std::uint64_t> numbers) {
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (const auto number : numbers) {
    const auto next = machines();
    const auto machine = number == 0 ? next : known.try_emplace(number, next).first->second;
    if (machine == next) {
      ranks_of_.emplace_back();
    }
    ranks_of_[machine].push_back(ranks());
    machine_of_.push_back(machine);
  }
}

std::uint32_t Seating::local_rank(std::uint32_t rank) const {
  const auto& beside = ranks_of(machine_of(rank));
  return static_cast<std::uint32_t>(std::ranges::find(beside, rank) - beside.begin());
}

}  // namespace tributary::host
