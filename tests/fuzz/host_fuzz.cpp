// SPDX-License-Identifier: BSD-3-Clause
// Workers and leaders of Canary over a network that the input controls.
#include <cstddef>
#include <cstdint>

#include "disturbed_ranks.h"
#include "input.h"
#include "unit/protocols/canary/host/memory_network.h"

namespace {

using namespace tributary;
using fuzz::Input;
using namespace tributary::host;
using namespace tributary::host::test;

void forge(Input& input, InFlight& datagram) {
  fuzz::scribble(input, datagram.bytes);
  if (datagram.bytes.size() >= sizeof(wire::CanaryHeader)) {
    seal(datagram.header(), datagram.payload());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const std::uint32_t ranks = 2 + input.next() % 3;
  if (const auto vectors = fuzz::draw_vectors(input, ranks)) {
    MemoryNetwork network(ranks, 32, 2);
    fuzz::DisturbedRanks(input, network, forge).run([&] {
      return fuzz::DenseReduction(network, *vectors);
    });
  }
  return 0;
}
