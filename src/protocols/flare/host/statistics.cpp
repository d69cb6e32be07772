// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/statistics.h"

#include <utility>

namespace tributary {

ProtocolStatistics figures_of(const FlareStatistics& of) {
  const Figures tree = {
      {"group", of.group},
      {"packets_sent", of.packets_sent},
      {"sparse_packets_sent", of.sparse_packets_sent},
      {"retransmissions_sent", of.retransmissions_sent},
      {"timeouts", of.timeouts},
      {"results_received", of.results_received},
      {"sparse_results_received", of.sparse_results_received},
  };
  Figures figures = {
      {"bytes_sent", of.bytes_sent},
      {"bytes_received", of.bytes_received},
      {"answers_sent", of.answers_sent},
      {"fingerprint_rejections", of.fingerprint_rejections},
  };
  of.ignored.add_to(figures);
  figures.add({"ignored", of.refused()});
  return {"flare", std::move(figures), {tree}};
}

}  // namespace tributary
