// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "engine/engine.h"
#include "protocols/drop_reasons.h"
#include "protocols/list.h"

// Echo is the smallest protocol there can be, for tests: a switch that has it on adds a number to
// what a host sends it, and sends that back; ranks tell each other their numbers. It shows what a
// protocol is made of, and that nothing else has to know it.
namespace tributary::echo {

inline constexpr std::uint16_t udp_port = 17900;

// A packet goes by UDP to that port, with a number of 32 bits in network order.
struct [[gnu::packed]] EchoHeader {
  wire::be32 number;
};

#define TRIBUTARY_ECHO_DROP_REASONS(X) X(truncated) /* shorter than its header */
TRIBUTARY_PROTOCOL_DROP_REASONS(echo, TRIBUTARY_ECHO_DROP_REASONS)

// This is the section [switch.echo].
struct EchoConfig {
  static constexpr auto row = protocols::Row::echo;

  std::uint32_t added = 1;
};

class EchoEngine final : public engine::Engine {
 public:
  explicit EchoEngine(const EchoConfig& config) : config_(config) {}

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  std::vector<engine::Figure> figures() const override { return {{"echoes_total", echoes_}}; }

  bool reconfigure(const EchoConfig& config) {
    config_ = config;
    return true;
  }

 private:
  EchoConfig config_;
  std::uint64_t echoes_ = 0;
};

}  // namespace tributary::echo
