// SPDX-License-Identifier: BSD-3-Clause
// Flare's ranks around a switch that the input controls, in both directions, and that forgets
// everything now and then.
#include <cstddef>
#include <cstdint>

#include "disturbed_ranks.h"
#include "input.h"
#include "unit/protocols/flare/host/model_network.h"

namespace {

using namespace tributary;
using fuzz::Input;
using namespace tributary::host;
using namespace tributary::host::test;

constexpr unsigned restarts_max = 4;

void forge(Input& input, FlareFlight& flight) {
  fuzz::scribble(input, flight.bytes);
  if (flight.bytes.size() >= sizeof(wire::FlareHeader)) {
    seal(flight.header(), wire::Bytes(flight.bytes).subspan(sizeof(wire::FlareHeader)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const std::uint32_t ranks = 2 + input.next() % 3;
  const std::uint32_t window = 1 + input.next() % 8;
  const unsigned packets_per_life = input.next();  // of the switch; 0: it lives for ever
  const auto vectors = fuzz::draw_vectors(input, ranks);
  if (!vectors) {
    return 0;
  }
  FlareModel model({.ranks = ranks, .payload_bytes = 32, .window = window});
  unsigned packets = 0;
  model.on_wire = [&](const FlareFlight&) {
    ++packets;
    if (packets_per_life != 0 && packets % packets_per_life == 0 &&
        packets / packets_per_life <= restarts_max) {
      model.tree.forget();
    }
    return 1u;
  };
  fuzz::DisturbedRanks(input, model, *vectors, forge).run();
  return 0;
}
