// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "echo/echo.h"
#include "engine/kind.h"

namespace tributary::echo {
namespace {

std::uint64_t key(const engine::Frame& frame) {
  return frame.udp->source_port.value();
}

}  // namespace

void EchoEngine::process(std::span<engine::Arrival> burst, Time, engine::Actions& actions) {
  for (auto& [packet, frame] : burst) {
    auto* header = wire::MutableCursor(frame.payload).take<EchoHeader>();
    if (header == nullptr) {
      actions.drop(std::move(packet), drop::truncated);
      continue;
    }
    header->number = header->number.value() + config_.added;
    std::swap(frame.ipv4->source, frame.ipv4->destination);
    std::swap(frame.udp->source_port, frame.udp->destination_port);
    std::swap(frame.ethernet->source, frame.ethernet->destination);
    frame.udp->checksum = std::uint16_t{0};
    const auto back = packet->ingress;
    ++counters_.echoes;
    actions.absorb(nullptr);
    actions.originate_on(back, std::move(packet));
  }
}

extern const engine::EngineKind engine_kind;
constexpr engine::EngineKind engine_kind = engine::kind_of<EchoEngine, EchoConfig>(
    {.name = "echo", .udp_ports = {udp_port, udp_port}, .key = key, .drop_reasons = drop::reasons});

}  // namespace tributary::echo
