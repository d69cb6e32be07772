// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "input.h"
#include "support/roce_packets.h"
#include "unit/host/values.h"
#include "unit/protocols/netreduce/host/ring_network.h"

// Some ranks reduce a vector over a ring of NetReduce, with the switch's engine between them, on
// lines that the input controls: they deliver, drop, double, delay, damage and forge packets in
// both directions. Nothing may crash, every collective ends by its deadline, and as long as nothing
// was forged, it is right, or has failed over a line that swallowed more than endpoints repeat.
namespace {

using namespace tributary;
using fuzz::Input;
using namespace tributary::host;
using namespace tributary::host::test;

enum class Deed : std::uint8_t { deliver, drop, damage, forge };
constexpr std::size_t behind_udp = 42;

// Never so that the second cable puts right what the first one did: a contribution that no switch
// could read would arrive as it was sent.
std::byte bits_to_flip(Input& input, bool to_switch) {
  constexpr std::uint8_t first_cable_only = 1;
  const auto bits = input.next();
  return static_cast<std::byte>(to_switch ? bits | first_cable_only : bits & ~first_cable_only);
}

// Changes a few bytes behind the UDP header, at places that the input names.
void damage(Input& input, Packet& packet) {
  for (auto changes = 1 + input.next() % 8; changes > 0; --changes) {
    const auto at = behind_udp + input.next() % (packet.length - behind_udp);
    packet.data()[at] = static_cast<std::byte>(input.next());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  Scene scene;
  scene.ranks = 2 + input.next() % 3;
  scene.plan = {.ring = 5, .window = 1u + input.next() % 2, .message_packets = 2, .mtu = 256};
  scene.weather.doubled = input.next();
  scene.weather.delay_max = Duration(1 + input.next() % 4 * 1000);
  scene.seed = input.next();
  const auto type = static_cast<wire::ElementType>(input.next() % wire::built_in_type_count);
  const auto op = static_cast<wire::Operator>(input.next() % wire::operator_count);
  const std::size_t count = input.next() * 4u;
  if (!wire::is_valid(type, op)) {
    return 0;
  }
  RingNetwork network(scene);
  bool forged = false;
  unsigned lost = 0;
  network.on_wire = [&](Packet& packet, bool to_switch) {
    switch (input.empty() ? Deed::deliver : static_cast<Deed>(input.next() % 4)) {
      case Deed::deliver:
        return true;
      case Deed::drop:
        ++lost;
        return false;
      case Deed::damage:
        ++lost;
        packet.data()[behind_udp + input.next() % (packet.length - behind_udp)] ^=
            bits_to_flip(input, to_switch);
        return true;
      case Deed::forge:
        damage(input, packet);
        tributary::test::reseal_roce(packet);
        forged = true;
        return true;
    }
    return true;
  };
  network.barrier();
  std::vector<Elements> in;
  std::vector<Elements> out(scene.ranks, Elements(count * wire::element_bytes(type)));
  for (std::uint32_t rank = 0; rank < scene.ranks; ++rank) {
    in.push_back(host::test::input(rank, count, type, op));
    network.begin(rank,
                  {Collective::allreduce, {in[rank].data(), out[rank].data(), count, type, op}});
  }
  network.run();
  assert(!network.is_running());
  assert(network.failure().empty() || forged || lost > scene.tuning.retries_max);
  for (std::uint32_t rank = 0; rank < scene.ranks; ++rank) {
    assert(network.has_failed(rank) || forged ||
           wrong_elements(out[rank], scene.ranks, count, type, op) == 0);
  }
  assert(network.harness().ledger.balanced());
  return 0;
}
