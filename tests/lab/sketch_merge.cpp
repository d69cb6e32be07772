// SPDX-License-Identifier: BSD-3-Clause
// A rank that sums a gradient in sketches of 4 bits, by a handler that decodes them and sketches
// the sums again, wherever two come together. It says by which algorithm, and how far, in percent
// of its root mean square, the sum is off; and how far it were if nothing were sketched again:
//
//   sketch_merge NUMBER FILE     the handler, and its number in the switches
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "host/communicator.h"
#include "host/handlers.h"
#include "host/sketch/quantiles.h"

namespace {

using namespace tributary;
using Vector = std::vector<float>;

constexpr unsigned bits = 4;
constexpr std::size_t element_bytes = 16;
constexpr std::size_t table_bytes = (std::size_t{1} << bits) * sizeof(float);
constexpr std::size_t packets = 20;

[[noreturn]] void fail(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(1);
}

template <typename T>
T ensure(Result<T> done) {
  if (!done) {
    fail(done.error().message);
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*done);
  }
}

Vector gradient(std::uint32_t rank, std::size_t count) {
  std::mt19937 random(rank + 1);
  std::exponential_distribution<float> magnitude(1);
  Vector made(count);
  std::generate(made.begin(), made.end(),
                [&] { return (random() & 1) != 0 ? magnitude(random) : -magnitude(random); });
  return made;
}

// What a packet carries: the table, and two codes a byte.
class Packets {
 public:
  explicit Packets(std::size_t payload_bytes)
      : packet_bytes_(payload_bytes / element_bytes * element_bytes) {}

  std::size_t elements() const { return packets * packet_bytes_ / element_bytes; }
  std::size_t floats_of_packet() const { return (packet_bytes_ - table_bytes) * 2; }

  std::vector<std::byte> encoded(std::span<const float> floats) const {
    std::vector<std::byte> made(packets * packet_bytes_);
    for (std::size_t packet = 0; packet < packets; ++packet) {
      const auto part = floats.subspan(packet * floats_of_packet(), floats_of_packet());
      const auto quantiles = host::sketch::quantiles_of(part, bits, Rounding::nearest);
      auto* const at = made.data() + packet * packet_bytes_;
      std::memcpy(at, quantiles.values.data(), table_bytes);
      host::sketch::encode(at + table_bytes, part, quantiles, nullptr);
    }
    return made;
  }
  Vector decoded(std::span<const std::byte> sketches) const {
    Vector floats(packets * floats_of_packet());
    for (std::size_t packet = 0; packet < packets; ++packet) {
      const auto* const at = sketches.data() + packet * packet_bytes_;
      float table[std::size_t{1} << bits];
      std::memcpy(table, at, sizeof table);
      host::sketch::decode(
          std::span(floats).subspan(packet * floats_of_packet(), floats_of_packet()),
          at + table_bytes, table, bits);
    }
    return floats;
  }

 private:
  std::size_t packet_bytes_;
};

double error_of(const Vector& sum, std::uint32_t ranks) {
  std::vector<double> exact(sum.size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto own = gradient(rank, sum.size());
    std::transform(exact.begin(), exact.end(), own.begin(), exact.begin(), std::plus<>());
  }
  double off = 0;
  double all = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    off += std::pow(static_cast<double>(sum[i]) - exact[i], 2);
    all += exact[i] * exact[i];
  }
  return 100 * std::sqrt(off / all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fail("sketch_merge NUMBER FILE");
  }
  const auto number = static_cast<unsigned>(std::atoi(argv[1]));
  const auto options = ensure(CommunicatorOptions::from_environment());
  ensure(load_handler(number, HandlerFile{argv[2]}));
  auto communicator = ensure(Communicator::create(options));
  const Packets in_packets(communicator.payload_bytes_max());
  const auto own = gradient(options.rank, packets * in_packets.floats_of_packet());

  auto sketches = in_packets.encoded(own);
  ensure(communicator.allreduce(sketches.data(), sketches.data(), in_packets.elements(),
                                wire::ElementType::opaque16, wire::handler_operator(number)));
  if (options.rank == 0) {
    Vector once(own.size());
    for (std::uint32_t rank = 0; rank < options.world_size; ++rank) {
      const auto part = in_packets.decoded(in_packets.encoded(gradient(rank, own.size())));
      std::transform(once.begin(), once.end(), part.begin(), once.begin(), std::plus<>());
    }
    std::printf("%s %.2f %.2f\n", communicator.algorithm().c_str(),
                error_of(in_packets.decoded(sketches), options.world_size),
                error_of(once, options.world_size));
  }
  ensure(communicator.barrier());
  return 0;
}
