// SPDX-License-Identifier: BSD-3-Clause
#include "handler_sample.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "reduce/element_types.h"
#include "reduce/kernel.h"
#include "wire/key.h"

namespace tributary::bench {
namespace {

using wire::ElementType;

// A Site tells where an element is, and whose it is.
struct Site {
  std::size_t iteration = 0;
  std::uint32_t rank = 0;
  std::size_t index = 0;
  std::size_t behind = 0;  // elements of its packet from this one on
  std::uint32_t ranks = 1;
};

// Returns a number from 0 to 3.
unsigned drawn(const Site& at) {
  const auto seed = (at.rank + 1) * 0x9e3779b97f4a7c15ULL + at.iteration * 0xd6e8feb86659fd93ULL;
  return static_cast<unsigned>(wire::mix_key(at.index, seed) >> 62);
}

template <typename T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// At an index, no two ranks have the same value, and those at the next index of the packet are
// less.
template <typename Pair>
void put_pair(std::byte* to, const Site& at) {
  const auto place = (at.rank + at.index + at.iteration) % at.ranks;
  Pair pair{};
  pair.value = static_cast<decltype(pair.value)>(at.behind * at.ranks + place);
  pair.index = static_cast<std::int32_t>(at.rank);
  put(to, pair);
}

// Writes `bytes` bytes of 1, i, -1 or -i, if they are taken for complex numbers.
void put_units(std::byte* to, std::size_t bytes, const Site& at) {
  constexpr std::array<std::array<float, 2>, 4> units = {
      {{1.0f, 0.0f}, {0.0f, 1.0f}, {-1.0f, 0.0f}, {0.0f, -1.0f}}};
  const auto& unit = units[drawn(at)];
  for (std::size_t lane = 0; lane < bytes / sizeof(float); ++lane) {
    put(to + lane * sizeof(float), unit[lane % 2]);
  }
}

void put_element(std::byte* to, ElementType type, const Site& at) {
  if (wire::is_opaque(type)) {
    return put_units(to, wire::element_bytes(type), at);
  }
  reduce::with_type(reduce::AllTypes{}, type, [&]<typename T>(T) {
    if constexpr (reduce::is_indexed<T>) {
      put_pair<T>(to, at);
    } else if constexpr (std::is_integral_v<T>) {
      put(to, static_cast<T>(drawn(at)));
    } else if constexpr (std::is_same_v<T, reduce::int4_pair>) {
      put(to, static_cast<std::uint8_t>(drawn(at)));
    } else {
      put(to, T(static_cast<float>(drawn(at))));
    }
  });
}

// A lane of an opaque type is an f32, and a zero may have either sign, which may depend on the
// order.
bool are_alike(const std::byte* a, const std::byte* b, ElementType type) {
  const auto bytes = wire::element_bytes(type);
  if (!wire::is_opaque(type)) {
    return std::memcmp(a, b, bytes) == 0;
  }
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t one = 0;
    std::uint32_t other = 0;
    std::memcpy(&one, a + at, sizeof one);
    std::memcpy(&other, b + at, sizeof other);
    if (one != other && ((one | other) & 0x7fffffffu) != 0) {
      return false;
    }
  }
  return true;
}

class HandlerSample final : public Sample {
 public:
  explicit HandlerSample(const Problem& problem)
      : problem_(problem),
        element_bytes_(wire::element_bytes(problem.type)),
        packet_(problem.packet_elements == 0 ? problem.count : problem.packet_elements) {}

  void fill(std::size_t iteration, void* buffer) const override {
    fill(iteration, problem_.rank, static_cast<std::byte*>(buffer));
  }

  std::uint64_t wrong_results(std::size_t iteration, const void* result,
                              const std::vector<PartialResult>& /*partial*/) const override {
    return count_differences(reduced(iteration), result);
  }

  std::uint64_t wrong_inputs(std::size_t iteration, const void* input) const override {
    return count_differences(input_of(iteration, problem_.rank), input);
  }

 private:
  void fill(std::size_t iteration, std::uint32_t rank, std::byte* to) const {
    for (std::size_t begin = 0; begin < problem_.count; begin += packet_) {
      const auto end = std::min(problem_.count, begin + packet_);
      for (std::size_t i = begin; i < end; ++i) {
        put_element(to + i * element_bytes_, problem_.type,
                    {iteration, rank, i, end - i, problem_.world_size});
      }
    }
  }

  std::vector<std::byte> input_of(std::size_t iteration, std::uint32_t rank) const {
    std::vector<std::byte> input(problem_.count * element_bytes_);
    fill(iteration, rank, input.data());
    return input;
  }

  std::vector<std::byte> reduced(std::size_t iteration) const {
    const auto& kernel = reduce::kernel(problem_.type, problem_.op);
    auto sum = input_of(iteration, 0);
    for (std::uint32_t rank = 1; rank < problem_.world_size; ++rank) {
      const auto next = input_of(iteration, rank);
      for (std::size_t i = 0; i < problem_.count; i += packet_) {
        kernel.accumulate(sum.data() + i * element_bytes_, next.data() + i * element_bytes_,
                          std::min(packet_, problem_.count - i));
      }
    }
    return sum;
  }

  std::uint64_t count_differences(const std::vector<std::byte>& wanted, const void* got) const {
    if (wanted.empty() || std::memcmp(wanted.data(), got, wanted.size()) == 0) {
      return 0;
    }
    const auto* const bytes = static_cast<const std::byte*>(got);
    std::uint64_t different = 0;
    for (std::size_t at = 0; at < wanted.size(); at += element_bytes_) {
      different += are_alike(wanted.data() + at, bytes + at, problem_.type) ? 0 : 1;
    }
    return different;
  }

  Problem problem_;
  std::size_t element_bytes_;
  std::size_t packet_;  // elements
};

}  // namespace

std::unique_ptr<Sample> make_handler_sample(const Problem& problem) {
  return std::make_unique<HandlerSample>(problem);
}

}  // namespace tributary::bench
