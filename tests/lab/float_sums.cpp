// SPDX-License-Identifier: BSD-3-Clause
// A rank that reduces the same floats again and again, of which other orders of the additions have
// other sums, and says by which algorithm and what came out:
//
//   float_sums ROUNDS
//
// It comes a moment late, each time another one, and fails if two rounds have not the same bits.
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "host/communicator.h"
#include "wire/crc32.h"

namespace {

using namespace tributary;

constexpr std::size_t count = 20'000;

[[noreturn]] void fail(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(1);
}

// Of very different sizes: nearly every addition rounds.
std::vector<float> floats_of(std::uint32_t rank) {
  std::mt19937 draw(rank + 1);
  std::uniform_real_distribution<float> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-12, 12);
  std::vector<float> floats(count);
  for (auto& one : floats) {
    one = std::ldexp(mantissa(draw), exponent(draw));
  }
  return floats;
}

void begin_at_random() {
  static std::mt19937 draw(std::random_device{}());
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution<int>(0, 3000)(draw)));
}

std::vector<float> reduced(Communicator& communicator, std::vector<float> floats) {
  begin_at_random();
  if (const auto done = communicator.allreduce(std::span(floats)); !done) {
    fail(done.error().message);
  }
  return floats;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 0;
  const auto options = CommunicatorOptions::from_environment();
  if (rounds < 1 || !options) {
    fail(options ? "float_sums ROUNDS" : options.error().message);
  }
  auto communicator = Communicator::create(*options);
  if (!communicator) {
    fail(communicator.error().message);
  }
  const auto own = floats_of(options->rank);
  const auto first = reduced(*communicator, own);
  for (int round = 1; round < rounds; ++round) {
    if (!same_bits(reduced(*communicator, own), first)) {
      fail("round " + std::to_string(round) + " has other bits than the first one");
    }
  }
  std::printf("%s %08x\n", communicator->algorithm().c_str(),
              wire::crc32(0, std::as_bytes(std::span(first))));
  return 0;
}
