// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_storage.h"

#include <cstring>
#include <utility>

#include "reduce/kernel.h"

namespace tributary::flare {
namespace {

// Takes all of the buffers, or none.
bool take_buffers(PacketPtr* buffers, std::size_t count, std::size_t bytes, WorkingMemory& memory) {
  for (std::size_t i = 0; i < count; ++i) {
    buffers[i] = take_buffer(bytes, memory);
    if (buffers[i] == nullptr) {
      while (i > 0) {
        give_back_buffer(buffers[--i], memory);
      }
      return false;
    }
  }
  return true;
}

template <typename T>
std::uint16_t count_in(const std::byte* elements, std::size_t count) {
  std::uint16_t present = 0;
  for (std::size_t i = 0; i < count; ++i) {
    present += !reduce::is_zero(load<T>(elements + i * sizeof(T)));
  }
  return present;
}

template <typename T>
void add_each(std::byte* sums, const std::byte* elements, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, sums += sizeof(T), elements += sizeof(T)) {
    store(sums, reduce::plus(load<T>(sums), load<T>(elements)));
  }
}

// Floats of 16 bits have kernels for accumulators of 32; here they are rounded at each addition.
void add_elements(wire::ElementType type, std::byte* sums, const std::byte* elements,
                  std::size_t count) {
  const auto& kernel = reduce::kernel(type, wire::Operator::sum);
  if (kernel.in_place) {
    return kernel.accumulate(sums, elements, count);
  }
  with_sparse_type(type, [&](auto of) { add_each<decltype(of)>(sums, elements, count); });
}

// Puts pairs one behind the other into packets with room for so many.
class PairWriter {
 public:
  PairWriter(PacketPtr* packets, std::size_t pairs) : packets_(packets), pairs_(pairs) {}

  template <typename T>
  void put(std::uint16_t offset, T value) {
    if (in_packet_ == pairs_) {
      ++packets_;
      in_packet_ = 0;
    }
    auto& packet = **packets_;
    auto* const pair = packet.data() + packet.length;
    store(pair, offset);
    store(pair + wire::flare_offset_bytes, value);
    packet.length += static_cast<std::uint32_t>(wire::flare_offset_bytes + sizeof value);
    ++in_packet_;
  }

 private:
  PacketPtr* packets_;
  std::size_t pairs_;
  std::size_t in_packet_ = 0;
};

}  // namespace

PacketPtr take_buffer(std::size_t bytes, WorkingMemory& memory) {
  auto buffer = memory.pool().allocate();
  if (buffer == nullptr || buffer->tailroom() < bytes) {
    return nullptr;
  }
  memory.take(1);
  return buffer;
}

void give_back_buffer(PacketPtr& buffer, WorkingMemory& memory) {
  if (buffer != nullptr) {
    memory.give_back(1);
    buffer.reset();
  }
}

bool HashStorage::reserve(const SparseShape& shape, WorkingMemory& memory) {
  if (!take_buffers(pages_.data(), pages, shape.full, memory)) {
    return false;
  }
  pair_bytes_ = shape.pair_bytes();
  places_per_page_ = shape.pairs_per_shard();
  for (auto& page : pages_) {
    std::memset(page->data(), 0xff, places_per_page_ * pair_bytes_);
  }
  return true;
}

// What is written is never behind what is read, as both go through the pages in one order.
void HashStorage::take(PacketPtr spilled, WorkingMemory& memory, SparseShards& out) {
  std::array<PacketPtr, pages + 1> packets;
  std::move(pages_.begin(), pages_.end(), packets.begin());
  const auto pairs_spilled = spilled->length / pair_bytes_;
  packets.back() = std::move(spilled);
  std::size_t taken = 0;
  std::size_t in_packet = 0;
  for (std::size_t from = 0; from < packets.size(); ++from) {
    const auto pairs = from == pages ? pairs_spilled : places_per_page_;
    for (std::size_t i = 0; i < pairs; ++i) {
      const auto* pair = packets[from]->data() + i * pair_bytes_;
      if (wire::flare_offset_at(pair) == empty) {
        continue;
      }
      if (in_packet == places_per_page_) {
        ++taken;
        in_packet = 0;
      }
      std::memmove(packets[taken]->data() + in_packet++ * pair_bytes_, pair, pair_bytes_);
    }
  }
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (i > taken) {
      give_back_buffer(packets[i], memory);
      continue;
    }
    const auto count = i == taken ? in_packet : places_per_page_;
    packets[i]->length = static_cast<std::uint32_t>(count * pair_bytes_);
    out.push({std::move(packets[i]), wire::FlareForm::pairs, static_cast<std::uint16_t>(count), 0});
  }
}

void HashStorage::clear(WorkingMemory& memory) {
  for (auto& page : pages_) {
    give_back_buffer(page, memory);
  }
}

bool ArrayStorage::reserve(wire::ElementType type, const SparseShape& shape, std::size_t span,
                           WorkingMemory& memory) {
  const auto count = shape.runs(span);
  if (!take_buffers(runs_.data(), count, shape.full, memory)) {
    return false;
  }
  type_ = type;
  shape_ = shape;
  span_ = span;
  count_ = count;
  per_run_ = shape.elements_per_run();
  reciprocal_ = ((std::uint64_t{1} << 32) + per_run_ - 1) / per_run_;
  for (std::size_t run = 0; run < count; ++run) {
    std::memset(runs_[run]->data(), 0, elements_in(run) * shape.element_bytes);
  }
  return true;
}

// A sender's runs may begin elsewhere than those here.
void ArrayStorage::add_run(std::size_t first, wire::Bytes elements) {
  const auto bytes = shape_.element_bytes;
  while (!elements.empty()) {
    const auto end = (run_of(first) + 1) * per_run_;
    const auto count = std::min(end - first, elements.size() / bytes);
    add_elements(type_, element(first), elements.data(), count);
    first += count;
    elements = elements.subspan(count * bytes);
  }
}

void ArrayStorage::take(bool leaves_out, WorkingMemory& memory, SparseShards& out) {
  const auto present = count_present();
  if (present == 0) {
    return take_nothing(memory, out);
  }
  if (!shape_.prefers_pairs(present, span_) || !take_as_pairs(present, memory, out)) {
    take_as_runs(leaves_out, memory, out);
  }
}

std::size_t ArrayStorage::count_present() {
  std::size_t present = 0;
  for (std::size_t run = 0; run < count_; ++run) {
    present_[run] = with_sparse_type(type_, [&](auto of) {
      return count_in<decltype(of)>(runs_[run]->data(), elements_in(run));
    });
    present += present_[run];
  }
  return present;
}

void ArrayStorage::copy_pairs(Packets& to) const {
  with_sparse_type(type_, [&](auto of) {
    using T = decltype(of);
    PairWriter writer(to.data(), shape_.pairs_per_shard());
    for (std::size_t run = 0; run < count_; ++run) {
      const auto* at = runs_[run]->data();
      for (std::size_t i = 0; present_[run] != 0 && i < elements_in(run); ++i, at += sizeof(T)) {
        if (const auto value = load<T>(at); !reduce::is_zero(value)) {
          writer.put(static_cast<std::uint16_t>(run * per_run_ + i), value);
        }
      }
    }
  });
}

// Returns false if there are no buffers for them.
bool ArrayStorage::take_as_pairs(std::size_t present, WorkingMemory& memory, SparseShards& out) {
  Packets packets;
  const auto shards = shape_.shards_of_pairs(present);
  if (!take_buffers(packets.data(), shards, shape_.full, memory)) {
    return false;
  }
  copy_pairs(packets);
  for (std::size_t i = 0; i < shards; ++i) {
    const auto count = packets[i]->length / shape_.pair_bytes();
    out.push({std::move(packets[i]), wire::FlareForm::pairs, static_cast<std::uint16_t>(count), 0});
  }
  clear(memory);
  return true;
}

void ArrayStorage::take_as_runs(bool leaves_out, WorkingMemory& memory, SparseShards& out) {
  for (std::size_t run = 0; run < count_; ++run) {
    if (leaves_out && present_[run] == 0) {
      give_back_buffer(runs_[run], memory);
      continue;
    }
    const auto count = elements_in(run);
    runs_[run]->length = static_cast<std::uint32_t>(count * shape_.element_bytes);
    out.push({std::move(runs_[run]), wire::FlareForm::run, static_cast<std::uint16_t>(count),
              static_cast<std::uint16_t>(run * per_run_)});
  }
}

void ArrayStorage::take_nothing(WorkingMemory& memory, SparseShards& out) {
  out.push({std::move(runs_.front()), wire::FlareForm::pairs, 0, 0});
  clear(memory);
}

void ArrayStorage::clear(WorkingMemory& memory) {
  for (std::size_t run = 0; run < count_; ++run) {
    give_back_buffer(runs_[run], memory);
  }
}

}  // namespace tributary::flare
