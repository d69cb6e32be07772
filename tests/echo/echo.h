// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/figures.h"
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

#define TRIBUTARY_ECHO_DROP_REASONS(X) X(truncated, "shorter than its header")
TRIBUTARY_PROTOCOL_DROP_REASONS(echo, TRIBUTARY_ECHO_DROP_REASONS)

// This is the section [switch.echo].
struct EchoConfig {
  static constexpr auto row = protocols::Row::echo;

  std::uint32_t added = 1;
};

struct EchoCounters {
  std::uint64_t echoes = 0;
};
inline constexpr engine::FigureOf<EchoCounters> echo_figures[] = {
    {&EchoCounters::echoes, {"echoes_total", "packets", "packets that went back with the sum"}},
};

class EchoEngine final : public engine::Engine {
 public:
  explicit EchoEngine(const EchoConfig& config) : config_(config) {}

  void process(std::span<engine::Arrival> burst, Time now, engine::Actions& actions) override;
  static std::vector<engine::FigureKind> figure_kinds() { return engine::kinds_of(echo_figures); }
  std::vector<engine::Figure> figures() const override {
    std::vector<engine::Figure> all;
    engine::append_figures(all, counters_, echo_figures, engine::Of::engine);
    return all;
  }

  bool reconfigure(const EchoConfig& config) {
    config_ = config;
    return true;
  }

 private:
  EchoConfig config_;
  EchoCounters counters_;
};

}  // namespace tributary::echo
