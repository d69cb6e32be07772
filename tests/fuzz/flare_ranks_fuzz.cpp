// SPDX-License-Identifier: BSD-3-Clause
// Flare's ranks around a switch that the input controls, in both directions, and that forgets
// everything now and then: allreduces of dense vectors, or of sparse ones.
#include <cstddef>
#include <cstdint>

#include "disturbed_ranks.h"
#include "input.h"
#include "unit/host/sparse_vectors.h"
#include "unit/protocols/flare/host/model_network.h"
#include "unit/protocols/flare/host/sparse_reduction.h"

namespace {

using namespace tributary;
using fuzz::Input;
using namespace tributary::host;
using namespace tributary::host::test;

constexpr unsigned restarts_max = 4;

template <typename Header>
void seal_again(Header& header, wire::Bytes packet) {
  if (packet.size() >= sizeof header) {
    seal(header, packet.subspan(sizeof header));
  }
}

void forge(Input& input, FlareFlight& flight) {
  fuzz::scribble(input, flight.bytes);
  if (flight.is_sparse()) {
    seal_again(flight.sparse_header(), flight.bytes);
  } else {
    seal_again(flight.header(), flight.bytes);
  }
}

void reduce_sparse(Input& input, FlareModel& model, const fuzz::Vectors& of) {
  if (!is_sparse_type(of.type)) {
    return;
  }
  const SparseVectors vectors(of.ranks, of.count + 1, of.type, drawn(input.next() * 4));
  fuzz::DisturbedRanks(input, model, forge).run([&] { return SparseReduction(model, vectors); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const std::uint32_t ranks = 2 + input.next() % 3;
  const auto windows = input.next();
  const std::uint32_t window = 1 + windows % 8;
  const std::uint32_t sparse_window = windows / 8 % 4;  // 0: the vectors are dense
  const unsigned packets_per_life = input.next();       // of the switch; 0: it lives for ever
  const auto vectors = fuzz::draw_vectors(input, ranks);
  if (!vectors) {
    return 0;
  }
  FlareModel model({.ranks = ranks,
                    .payload_bytes = sparse_window == 0 ? 32u : 96u,
                    .window = window,
                    .sparse_window = sparse_window});
  unsigned packets = 0;
  model.on_wire = [&](const FlareFlight&) {
    ++packets;
    if (packets_per_life != 0 && packets % packets_per_life == 0 &&
        packets / packets_per_life <= restarts_max) {
      model.forget();
    }
    return 1u;
  };
  if (sparse_window != 0) {
    reduce_sparse(input, model, *vectors);
    return 0;
  }
  fuzz::DisturbedRanks(input, model, forge).run([&] {
    return fuzz::DenseReduction(model, *vectors);
  });
  return 0;
}
