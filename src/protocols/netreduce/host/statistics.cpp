// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/statistics.h"

namespace tributary {

ProtocolStatistics figures_of(const NetReduceStatistics& of) {
  return {"netreduce",
          {
              {"ring", of.ring, Merge::same},
              {"messages_sent", of.messages_sent},
              {"packets_sent", of.roce.packets_sent},
              {"retransmissions_sent", of.roce.retransmissions_sent},
              {"timeouts", of.roce.timeouts},
              {"acknowledgements_received", of.roce.acknowledgements_received},
              {"sequence_errors_received", of.roce.sequence_errors_received},
              {"congestion_notifications_received", of.roce.congestion_notifications_received},
              {"packets_received", of.roce.packets_received},
              {"acknowledgements_sent", of.roce.acknowledgements_sent},
              {"sequence_errors_sent", of.roce.sequence_errors_sent},
              {"congestion_notifications_sent", of.roce.congestion_notifications_sent},
              {"ignored_duplicate", of.roce.ignored_duplicate},
              {"ignored_out_of_order", of.roce.ignored_out_of_order},
              {"ignored_icrc", of.roce.ignored_icrc},
              {"ignored_foreign", of.roce.ignored_foreign},
              {"bytes_sent", of.roce.bytes_sent},
              {"bytes_received", of.roce.bytes_received},
          },
          {}};
}

}  // namespace tributary
