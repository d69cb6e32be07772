// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/sparse_storage_cost.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "protocols/flare/engine/sparse_sum.h"
#include "protocols/flare/host/sparse_contribution.h"
#include "protocols/flare/host/sparse_packets.h"

namespace tributary::test {
namespace {

constexpr std::uint32_t payload_bytes = 1408;  // of a dense packet, with an MTU of 1500

host::FlareSparseBlocks blocks_of(const SparseDraw& draw) {
  host::FlareSparseBlocks blocks;
  blocks.type = wire::ElementType::f32;
  blocks.count = draw.count;
  blocks.full = host::flare_sparse_full(payload_bytes);
  blocks.span = blocks.shape().span((draw.count + draw.bucket - 1) / draw.bucket, draw.count);
  return blocks;
}

// Adds up one block after the other, in a switch that has nothing else.
class Summation {
 public:
  Summation(const SparseInputs& inputs, Storage storage)
      : blocks_(blocks_of(inputs.draw())), storage_(storage) {
    cost_.span = blocks_.span;
    cost_.packet_bytes = blocks_.full;
    for (std::uint32_t rank = 0; rank < inputs.draw().ranks; ++rank) {
      ranks_.emplace_back(1, blocks_.full);
      ranks_.back().begin(inputs.of(rank), blocks_);
    }
  }

  StorageCost run() {
    for (std::uint32_t index = 0; index < blocks_.number(); ++index) {
      add_up(index);
    }
    cost_.buffers_mean /= blocks_.number();
    return cost_;
  }

 private:
  void add_up(std::uint32_t index) {
    wire::FlareSparseHeader header;
    header.element_type = blocks_.type;
    header.span = static_cast<std::uint16_t>(blocks_.range(index).count);
    header.full = static_cast<std::uint16_t>(blocks_.full);
    flare::WorkingMemory memory(pool_);
    flare::SparseSum sum;
    sum.begin(header, storage_ == Storage::array);
    for (auto& rank : ranks_) {
      rank.make(index);
      for (std::uint32_t number = 0; number < rank.shards(index); ++number) {
        const auto shard = rank.shard(index, number);
        header.form = shard.form;
        header.elements = shard.elements;
        header.first = shard.first;
        cost_.came_bytes += shard.payload.size();
        flare::SparseShards spilled;
        sum.take(header, shard.payload, memory, spilled);
        keep(spilled);
      }
    }
    flare::SparseShards rest;
    sum.finish(memory, rest);
    keep(rest);
    cost_.buffers_max = std::max<std::size_t>(cost_.buffers_max, memory.high_water());
    cost_.buffers_mean += static_cast<double>(memory.high_water());
    kept_.clear();
  }

  // Keeps what a child may ask for again.
  void keep(flare::SparseShards& shards) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const auto bytes = shards[i].form == wire::FlareForm::pairs ? blocks_.shape().pair_bytes()
                                                                  : blocks_.shape().element_bytes;
      cost_.sent_bytes += shards[i].elements * bytes;
      ++cost_.sent_packets;
      kept_.push_back(std::move(shards[i].payload));
    }
  }

  HeapPacketPool pool_{512, 2048};
  host::FlareSparseBlocks blocks_;
  Storage storage_;
  std::vector<host::SparseContributions> ranks_;
  std::vector<PacketPtr> kept_;
  StorageCost cost_;
};

}  // namespace

StorageCost storage_cost(const SparseInputs& inputs, Storage storage) {
  return Summation(inputs, storage).run();
}

}  // namespace tributary::test
