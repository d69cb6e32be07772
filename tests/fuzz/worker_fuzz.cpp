// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "input.h"
#include "unit/host/panama/model_tree.h"
#include "unit/host/values.h"

// Some PANAMA workers reduce a vector over trees that the input controls: they deliver, drop,
// duplicate, reorder, damage and forge packets in both directions. Nothing may crash, every
// collective ends by its deadline, and as long as nothing was forged, it is right.
namespace {

using namespace tributary;
using fuzz::Input;
using namespace tributary::host;
using namespace tributary::host::test;

enum class Deed : std::uint8_t { deliver, drop, duplicate, rotate, damage, cut, forge, collect };
constexpr std::size_t queue_max = 200;

// Changes a few bytes of a packet, at places that the input names, and makes the CRCs right.
void forge(Input& input, PanamaFlight& flight) {
  for (auto changes = input.next() % 8; changes > 0; --changes) {
    flight.bytes[input.next() % flight.bytes.size()] = static_cast<std::byte>(input.next());
  }
  if (flight.bytes.size() >= sizeof(wire::PanamaHeader)) {
    seal(flight.header(), wire::Bytes(flight.bytes).subspan(sizeof(wire::PanamaHeader)));
  }
}

// Does one deed to the queue; true if packets are no longer what somebody sent.
bool disturb(Input& input, ModelTree& model) {
  auto& queue = model.queue();
  const auto deed = static_cast<Deed>(input.next() % 8);
  if (deed == Deed::collect || queue.empty()) {
    model.collect(input.next() % model.size());
    return false;
  }
  switch (deed) {
    case Deed::deliver:
      model.deliver();
      return false;
    case Deed::drop:
      queue.pop_front();
      return false;
    case Deed::duplicate:
      if (queue.size() < queue_max) {
        queue.push_back(queue.front());
      }
      return false;
    case Deed::rotate:
      std::rotate(queue.begin(), queue.begin() + input.next() % queue.size(), queue.end());
      return false;
    case Deed::damage:
      queue.front().bytes[input.next() % queue.front().bytes.size()] ^= std::byte{input.next()};
      return true;
    case Deed::cut:
      queue.front().bytes.resize(1 + input.next() % queue.front().bytes.size());
      return true;
    default:
      forge(input, queue.front());
      return true;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const std::uint32_t ranks = 2 + input.next() % 3;
  const std::uint32_t trees = 1 + input.next() % 3;
  const bool control = input.next() % 2 == 0;
  const auto type = static_cast<wire::ElementType>(input.next() % wire::element_type_count);
  const auto op = static_cast<wire::Operator>(input.next() % wire::operator_count);
  const std::size_t count = input.next();
  if (!wire::is_valid(type, op)) {
    return 0;
  }
  ModelTree model({.ranks = ranks,
                   .trees = trees,
                   .payload_bytes = 32,
                   .congestion_control = control,
                   .window_max = 8});
  bool forged = false;
  for (int collective = 0; collective < 2; ++collective) {
    std::vector<Elements> in;
    std::vector<Elements> out(ranks, Elements(count * wire::element_bytes(type)));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      in.push_back(host::test::input(rank, count, type, op));
    }
    const auto deadline = model.now + std::chrono::seconds(60);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      model[rank].begin(
          {Collective::allreduce, {in[rank].data(), out[rank].data(), count, type, op}}, model.now,
          deadline);
      forged |= !input.empty() && disturb(input, model);
    }
    while (!input.empty() && (collective == 1 || input.next() % 64 != 63)) {
      forged |= disturb(input, model);
    }
    model.run(deadline - model.now);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto& machine = model[rank];
      assert(!machine.running());
      assert(!machine.failure() || !machine.failure()->message.empty());
      const bool succeeded = !machine.failure();
      assert(forged || succeeded);
      assert(forged || wrong_elements(out[rank], ranks, count, type, op) == 0);
    }
    model.now = deadline;
  }
  return 0;
}
