// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "host/canary_statistics.h"
#include "host/error.h"
#include "reduce/float16.h"
#include "wire/canary.h"
#include "wire/element.h"

namespace tributary {

struct CommunicatorOptions {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string rendezvous;     // "address:port"; rank 0 listens there
  std::string local_address;  // IPv4; empty: the one that routes to the rendezvous
  std::uint16_t mtu = 0;     // IP bytes; 0: that of the interface. The smallest of all ranks counts
  std::uint32_t window = 0;  // blocks in flight per worker; 0: chosen from the receive buffer
  // For create() and for every collective.
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;

  // RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them; and, if they are there,
  // TRIBUTARY_LOCAL_ADDRESS, TRIBUTARY_MTU, TRIBUTARY_WINDOW, TRIBUTARY_DEADLINE (seconds) and
  // TRIBUTARY_ENCAPSULATION ("udp" or "ethernet").
  static Result<CommunicatorOptions> from_environment();
};

// The wire's name of a C++ element type.
template <typename T>
constexpr wire::ElementType element_type_for() {
  using wire::ElementType;
  constexpr bool is_plain_integer = std::is_integral_v<T> && std::is_signed_v<T>;
  if constexpr (std::is_same_v<T, float>) {
    return ElementType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ElementType::f64;
  } else if constexpr (std::is_same_v<T, reduce::half>) {
    return ElementType::f16;
  } else if constexpr (std::is_same_v<T, reduce::bfloat16>) {
    return ElementType::bf16;
  } else if constexpr (is_plain_integer && sizeof(T) == 1) {
    return ElementType::i8;
  } else if constexpr (is_plain_integer && sizeof(T) == 2) {
    return ElementType::i16;
  } else if constexpr (is_plain_integer && sizeof(T) == 4) {
    return ElementType::i32;
  } else {
    static_assert(is_plain_integer && sizeof(T) == 8, "not an element type of Tributary");
    return ElementType::i64;
  }
}

// A group of ranks that reduce vectors together. All ranks call the same collectives in the same
// order with the same count, type and operator. Calls block; one thread at a time. A call ends with
// the sum of all contributions, each once, or with an error by the deadline; after an error the
// contents of `out` are undefined.
class Communicator {
 public:
  static Result<Communicator> create(const CommunicatorOptions& options);
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  // Reduced in the network by Canary, or by the leaders where no switch aggregates. `in` and `out`
  // are the same or do not overlap; nothing need be aligned. 16-bit floats are added in f32 and
  // rounded where a partial sum is sent on.
  Result<void> allreduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                         wire::Operator op);
  // Reduced by the hosts alone, over TCP; 16-bit floats are rounded at every hop.
  Result<void> ring_allreduce(const void* in, void* out, std::size_t count, wire::ElementType type,
                              wire::Operator op);

  template <typename T>
  Result<void> allreduce(std::span<T> inout, wire::Operator op = wire::Operator::sum) {
    return allreduce(inout.data(), inout.data(), inout.size(), element_type_for<T>(), op);
  }
  // Precondition: in and out have the same size.
  template <typename T>
  Result<void> allreduce(std::span<const T> in, std::span<T> out,
                         wire::Operator op = wire::Operator::sum) {
    return allreduce(in.data(), out.data(), in.size(), element_type_for<T>(), op);
  }
  template <typename T>
  Result<void> ring_allreduce(std::span<T> inout, wire::Operator op = wire::Operator::sum) {
    return ring_allreduce(inout.data(), inout.data(), inout.size(), element_type_for<T>(), op);
  }
  template <typename T>
  Result<void> ring_allreduce(std::span<const T> in, std::span<T> out,
                              wire::Operator op = wire::Operator::sum) {
    return ring_allreduce(in.data(), out.data(), in.size(), element_type_for<T>(), op);
  }

  // Returns when all ranks have called it.
  Result<void> barrier();

  std::uint32_t rank() const;
  std::uint32_t world_size() const;
  // Of a full packet, as the ranks agreed; 0 for a single rank.
  std::uint32_t payload_bytes_max() const;
  std::uint32_t window() const;
  CanaryStatistics statistics() const;

 private:
  struct State;
  explicit Communicator(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
