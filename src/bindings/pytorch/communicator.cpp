// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/communicator.h"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tributary::pytorch {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Each rank tells the store its bytes; rank 0 reads them all, so that each rank asks twice at most.
class StoreAllgather {
 public:
  StoreAllgather(c10d::Store& store, const Place& place) : store_(store), place_(place) {}

  static int gather(void* self, const void* in, void* out, std::size_t bytes) {
    return static_cast<StoreAllgather*>(self)->gather(in, out, bytes);
  }
  // Tells why the store refused, if it did.
  const std::string& failure() const { return failure_; }

 private:
  int gather(const void* in, void* out, std::size_t bytes) try {
    const auto* const mine = static_cast<const std::uint8_t*>(in);
    const auto round = "tributary/" + std::to_string(rounds_++) + "/";
    store_.set(round + std::to_string(place_.rank), Bytes(mine, mine + bytes));
    if (place_.rank == 0) {
      store_.set(round + "all", collect(round, bytes));
    }
    const auto all = store_.get(round + "all");
    if (all.size() != bytes * static_cast<std::size_t>(place_.size)) {
      throw std::runtime_error("the ranks have different versions of libtributary");
    }
    std::copy(all.begin(), all.end(), static_cast<std::uint8_t*>(out));
    return 0;
  } catch (const std::exception& error) {
    failure_ = error.what();
    return 1;
  }

  Bytes collect(const std::string& round, std::size_t bytes) {
    Bytes all;
    all.reserve(bytes * static_cast<std::size_t>(place_.size));
    for (int rank = 0; rank < place_.size; ++rank) {
      const auto one = store_.get(round + std::to_string(rank));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  c10d::Store& store_;
  const Place& place_;
  int rounds_ = 0;
  std::string failure_;
};

struct DestroyOptions {
  void operator()(tributary_options* options) const { tributary_options_destroy(options); }
};
using Options = std::unique_ptr<tributary_options, DestroyOptions>;

void check(tributary_result result, const std::string& more = {}) {
  if (result != TRIBUTARY_SUCCESS) {
    throw std::runtime_error("no process group over Tributary: " + failure_text(result) +
                             (more.empty() ? "" : " (" + more + ")"));
  }
}

Options options_of(const Place& place) {
  tributary_options* created = nullptr;
  check(tributary_options_create(&created));
  Options options(created);
  for (const auto& [name, value] : place.variables) {
    check(tributary_options_set(created, name.c_str(), value.c_str()));
  }
  if (place.is_part) {
    check(tributary_options_for_part(created));
  }
  return options;
}

}  // namespace

std::string failure_text(tributary_result result) {
  return std::string(tributary_result_name(result)) + ": " + tributary_last_error();
}

Communicator::Communicator(c10d::Store& store, const Place& place) {
  const auto options = options_of(place);
  StoreAllgather allgather(store, place);
  const auto result = tributary_comm_create_with(
      &comm_, options.get(), static_cast<std::uint32_t>(place.rank),
      static_cast<std::uint32_t>(place.size), StoreAllgather::gather, &allgather);
  check(result, allgather.failure());
}

void Communicator::close() {
  tributary_comm_destroy(std::exchange(comm_, nullptr));
}

}  // namespace tributary::pytorch
