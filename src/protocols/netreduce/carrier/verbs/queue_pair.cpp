// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/verbs/queue_pair.h"

#include <cerrno>

#include "host/job.h"
#include "protocols/netreduce/carrier/verbs/refusal.h"

namespace tributary::host::verbs {
namespace {

// 7 means for ever. That is safe, as receives are posted ahead of every message.
constexpr std::uint8_t retries_unready = 7;
constexpr std::uint8_t timeout_max = 31;
constexpr std::uint8_t unready_delay = 12;  // 0.64 ms

// Returns the code of the least time 4.096 us x 2^code that is no shorter (InfiniBand Architecture
// Specification, 9.7.6.1.3).
std::uint8_t code_of(std::chrono::nanoseconds timeout) {
  std::uint8_t code = 1;  // code 0 means never
  while (code < timeout_max && std::chrono::nanoseconds(4096LL << code) < timeout) {
    ++code;
  }
  return code;
}

}  // namespace

ibv_mtu mtu_code(std::uint32_t bytes) {
  auto code = IBV_MTU_256;
  for (auto covered = 256u; covered < bytes; covered *= 2) {
    code = static_cast<ibv_mtu>(code + 1);
  }
  return code;
}

Result<QueuePair> make_queue_pair(const Device& device, ibv_pd& domain, ibv_cq& completions,
                                  std::uint32_t requests) {
  ibv_qp_init_attr wanted{};
  wanted.qp_type = IBV_QPT_RC;
  wanted.send_cq = wanted.recv_cq = &completions;
  wanted.cap.max_send_wr = wanted.cap.max_recv_wr = requests;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  QueuePair made(ibv_create_qp(&domain, &wanted));
  if (!made) {
    return refused("a queue pair", device.name, errno);
  }
  return made;
}

Result<void> clear(const Device& device, ibv_qp& queue_pair) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  if (const int code = ibv_modify_qp(&queue_pair, &attributes, IBV_QP_STATE); code != 0) {
    return refused("to reset a queue pair", device.name, code);
  }
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device.port;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (const int code =
          ibv_modify_qp(&queue_pair, &attributes,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      code != 0) {
    return refused("to set up a queue pair", device.name, code);
  }
  return {};
}

Result<void> connect(const Device& device, ibv_qp& queue_pair, const Opposite& opposite,
                     const Path& path) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = mtu_code(path.mtu);
  attributes.dest_qp_num = opposite.queue_pair;
  attributes.rq_psn = opposite.its_psn;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = unready_delay;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = device.port;
  attributes.ah_attr.grh.dgid = gid_of(opposite.address);
  attributes.ah_attr.grh.sgid_index = device.gid_index;
  attributes.ah_attr.grh.hop_limit = 64;
  attributes.ah_attr.grh.traffic_class = path.tos;
  if (const int code =
          ibv_modify_qp(&queue_pair, &attributes,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      code != 0) {
    return refused("to connect to " + to_string(opposite.address), device.name, code);
  }
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = opposite.my_psn;
  attributes.timeout = code_of(path.timeout);
  attributes.retry_cnt = path.retries;
  attributes.rnr_retry = retries_unready;
  attributes.max_rd_atomic = 1;
  if (const int code =
          ibv_modify_qp(&queue_pair, &attributes,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                            IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
      code != 0) {
    return refused("to send to " + to_string(opposite.address), device.name, code);
  }
  return {};
}

}  // namespace tributary::host::verbs
