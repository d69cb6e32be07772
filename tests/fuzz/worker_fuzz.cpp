// SPDX-License-Identifier: BSD-3-Clause
// PANAMA's workers over trees that the input controls, in both directions.
#include <cstddef>
#include <cstdint>

#include "disturbed_ranks.h"
#include "input.h"
#include "unit/protocols/panama/host/model_tree.h"

namespace {

using namespace tributary;
using fuzz::Input;
using namespace tributary::host;
using namespace tributary::host::test;

void forge(Input& input, PanamaFlight& flight) {
  fuzz::scribble(input, flight.bytes);
  if (flight.bytes.size() >= sizeof(wire::PanamaHeader)) {
    seal(flight.header(), wire::Bytes(flight.bytes).subspan(sizeof(wire::PanamaHeader)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const std::uint32_t ranks = 2 + input.next() % 3;
  const std::uint32_t trees = 1 + input.next() % 3;
  const bool control = input.next() % 2 == 0;
  if (const auto vectors = fuzz::draw_vectors(input, ranks)) {
    ModelTree model({.ranks = ranks,
                     .trees = trees,
                     .payload_bytes = 32,
                     .congestion_control = control,
                     .window_max = 8});
    fuzz::DisturbedRanks(input, model, forge).run([&] {
      return fuzz::DenseReduction(model, *vectors);
    });
  }
  return 0;
}
