// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "host/communicator_options.h"
#include "host/error.h"
#include "host/parameter.h"
#include "host/roce/tuning.h"
#include "host/traffic_class.h"
#include "protocols/netreduce/host/plan.h"
#include "protocols/netreduce/wire.h"

namespace tributary::host {

inline constexpr auto netreduce = "netreduce";
inline constexpr auto roce_ring = "roce-ring";

inline constexpr Parameter netreduce_parameters[] = {
    {.name = "netreduce_ring",
     .help = "`id` of the `[[switch.netreduce.ring]]` whose members are the ranks, in their order",
     .option = "--ring",
     .agreed = true},
    {.name = "netreduce_window",
     .otherwise = "2",
     .help =
         "messages that a rank may have open, N; this and the next as the switch's ring has them "
         "(`window`, `message_packets`)",
     .agreed = true,
     .least = 1,
     .most = wire::ring_window_max},
    {.name = "netreduce_message",
     .otherwise = "170",
     .help = "packets of a full message",
     .agreed = true,
     .least = 1,
     .most = wire::ring_message_packets_max},
    {.name = "netreduce_mtu",
     .otherwise = "1024",
     .help =
         "payload bytes of a packet, the path MTU: the largest that ranks try. An interface needs "
         "64 bytes more, 84 over IPv6",
     .agreed = true,
     .least = 256,
     .most = 4096},
    {.name = "rdma_device",
     .kind = Parameter::Kind::text,
     .help = "the RDMA device (libibverbs) of this rank; without one, an endpoint in software"},
    {.name = "rdma_timeout",
     .kind = Parameter::Kind::duration,
     .help = "after how long the device sends again what is not acknowledged; by default a seventh "
             "of the stall timeout or the deadline, whichever is shorter, within 1 s to 17.2 s"},
    dscp_parameter,
};

struct NetReduceOptions {
  bool hosts_add = false;  // the ring over the same connections without a switch
  std::optional<std::uint32_t> ring;
  std::uint32_t window = 0;
  std::uint32_t message_packets = 0;
  std::uint32_t mtu = 0;
  std::string rdma_device;                  // empty: an endpoint in software
  std::chrono::nanoseconds rdma_timeout{};  // 0: follows from the other limits
};

NetReduceOptions netreduce_options_of(const CommunicatorOptions& options);

Result<void> check_netreduce(const CommunicatorOptions& options);

// Precondition: check_netreduce() accepted the options.
NetReducePlan netreduce_plan_of(const NetReduceOptions& options);

// Returns the IP bytes of the longest packet that has so many payload bytes.
std::uint32_t ip_bytes_of(std::uint32_t mtu);
// Returns the largest path MTU of RDMA whose packets have no more than so many IP bytes; 0 where
// there is none.
std::uint32_t path_mtu_within(std::uint32_t ip_bytes);

// A connection must not be given up before the collective is, as another rank may be that late.
roce::Tuning roce_tuning_of(const CommunicatorOptions& options);

}  // namespace tributary::host
