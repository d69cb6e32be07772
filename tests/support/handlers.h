// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reduce/handlers/budget.h"
#include "reduce/handlers/handler.h"
#include "reduce/handlers/table.h"
#include "wire/element.h"

// These are handlers of i32 for tests, and what loads them.
namespace tributary::test {

class IntHandler : public reduce::Handler {
 public:
  explicit IntHandler(std::uint64_t mark) : mark_(mark) {}

  void combine(void* accumulator, const void* elements, std::size_t n) const final {
    if (n == 0) {
      return;
    }
    std::vector<std::int32_t> sum(n);
    std::vector<std::int32_t> next(n);
    std::memcpy(sum.data(), accumulator, n * sizeof(std::int32_t));
    std::memcpy(next.data(), elements, n * sizeof(std::int32_t));
    sum = combined(std::move(sum), next);
    std::memcpy(accumulator, sum.data(), n * sizeof(std::int32_t));
  }
  wire::ElementType type() const override { return wire::ElementType::i32; }
  const std::string& name() const override { return name_; }
  std::uint64_t mark() const override { return mark_; }
  bool is_native() const override { return true; }

 private:
  virtual std::vector<std::int32_t> combined(std::vector<std::int32_t> sum,
                                             const std::vector<std::int32_t>& next) const = 0;

  std::uint64_t mark_;
  std::string name_ = "of a test";
};

// OneLess computes a + b - 1: the result is the total, less one for each time that two were
// combined.
class OneLess : public IntHandler {
 public:
  static constexpr std::uint64_t usual_mark = 0x1234'5678'9abc'def1;
  explicit OneLess(std::uint64_t mark = usual_mark) : IntHandler(mark) {}

 protected:
  std::vector<std::int32_t> combined(std::vector<std::int32_t> sum,
                                     const std::vector<std::int32_t>& next) const override {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum[i]) +
                                         static_cast<std::uint32_t>(next[i]) - 1u);
    }
    return sum;
  }
};

// BestOfLists makes of two lists that fall the best elements, as many as one of them has: so it
// matters where lists end.
class BestOfLists final : public IntHandler {
 public:
  BestOfLists() : IntHandler(0xbe57) {}

 private:
  std::vector<std::int32_t> combined(std::vector<std::int32_t> sum,
                                     const std::vector<std::int32_t>& next) const override {
    const auto size = sum.size();
    sum.insert(sum.end(), next.begin(), next.end());
    std::sort(sum.begin(), sum.end(), std::greater<>());
    sum.resize(size);
    return sum;
  }
};

// SlowOneLess computes the same, and takes far too long by a clock of its own.
class SlowOneLess final : public OneLess {
 public:
  SlowOneLess() {
    reduce::measure_handlers([] { return now_ns; });
  }
  SlowOneLess(const SlowOneLess&) = delete;
  SlowOneLess& operator=(const SlowOneLess&) = delete;
  ~SlowOneLess() override { reduce::measure_handlers(nullptr); }

 private:
  std::vector<std::int32_t> combined(std::vector<std::int32_t> sum,
                                     const std::vector<std::int32_t>& next) const override {
    now_ns += std::uint64_t{10} * reduce::handler_ns_per_kib_max;
    return OneLess::combined(std::move(sum), next);
  }

  static inline std::uint64_t now_ns = 0;
};

// The handler has a number while this lives.
class LoadedHandler {
 public:
  LoadedHandler(unsigned number, std::unique_ptr<reduce::Handler> handler) : number_(number) {
    is_loaded_ = reduce::handlers().load(number, std::move(handler)).has_value();
  }
  LoadedHandler(const LoadedHandler&) = delete;
  LoadedHandler& operator=(const LoadedHandler&) = delete;
  ~LoadedHandler() {
    close();
    reduce::handlers().take(number_);
  }

  bool is_loaded() const { return is_loaded_; }
  void close() { reduce::handlers().close(number_); }
  void reopen() { reduce::handlers().reopen(number_); }

 private:
  unsigned number_;
  bool is_loaded_ = false;
};

}  // namespace tributary::test
