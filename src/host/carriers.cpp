// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "host/carrier.h"

namespace tributary::host {

using MakeCarrier = std::unique_ptr<Carrier>(Connections, const CommunicatorOptions&);

// What each protocol's folder defines.
MakeCarrier make_canary_carrier;
MakeCarrier make_panama_carrier;
MakeCarrier make_netreduce_carrier;

std::unique_ptr<Carrier> make_carrier(Connections connections, const CommunicatorOptions& options) {
  if (!connections.plan.trees.empty()) {
    return make_panama_carrier(std::move(connections), options);
  }
  if (connections.netreduce) {
    return make_netreduce_carrier(std::move(connections), options);
  }
  return make_canary_carrier(std::move(connections), options);
}

}  // namespace tributary::host
