// SPDX-License-Identifier: BSD-3-Clause
#include "host/verbs/verbs_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "host/job.h"
#include "host/transport/address.h"
#include "host/verbs/device.h"
#include "host/verbs/resources.h"
#include "wire/roce.h"

namespace tributary::host {
namespace {

using verbs::Device;
using wire::Bytes;
using wire::MutableBytes;

constexpr std::uint8_t retries_unready = 7;  // for ever: receives are posted ahead of every message
constexpr std::uint8_t timeout_max = 31;
constexpr std::uint8_t unready_delay = 12;  // 0.64 ms
constexpr std::size_t events_max = 32;

// The queue pair that only receives numbers nothing of its own, whatever this says.
constexpr std::uint32_t silent_psn = 0;

// 4.096 us x 2^code (InfiniBand Architecture Specification, 9.7.6.1.3).
std::uint8_t code_of(std::chrono::nanoseconds timeout) {
  std::uint8_t code = 1;  // 0 is never
  while (code < timeout_max && std::chrono::nanoseconds(4096LL << code) < timeout) {
    ++code;
  }
  return code;
}

ibv_mtu mtu_code(std::uint32_t bytes) {
  auto code = IBV_MTU_256;
  for (auto covered = 256u; covered < bytes; covered *= 2) {
    code = static_cast<ibv_mtu>(code + 1);
  }
  return code;
}

// `code` is what errno may be; some functions of libibverbs set that, others return it.
tl::unexpected<Error> refused(const std::string& what, const std::string& device, int code) {
  const std::string hint =
      code == ENOMEM ? "; memory for RDMA is locked: try 'ulimit -l unlimited'" : "";
  return fail(Error::Code::network, "the RDMA device " + device + " refuses " + what + ": " +
                                        std::generic_category().message(code) + hint);
}

// What the device reads from and writes to.
struct Region {
  std::vector<std::byte> bytes;
  verbs::Memory registration{};  // ends before its memory
};

class DeviceLink final : public VerbsLink {
 public:
  DeviceLink(Device device, const NetReducePlan& plan, std::chrono::nanoseconds timeout)
      : device_(std::move(device)),
        plan_(plan),
        timeout_(code_of(timeout)),
        sent_{std::vector<std::byte>(memory_bytes())},
        received_{std::vector<std::byte>(memory_bytes())},
        first_psn_(std::random_device()() & wire::psn_mask) {}
  ~DeviceLink() override { acknowledge_wakeups(); }

  Result<void> open();
  LinkEnd end() const override;
  Result<void> connect(const LinkNeighbour& next, const LinkNeighbour& before) override;

  MutableBytes send_slot(std::uint32_t slot) override {
    return {sent_.bytes.data() + offset_of(slot), plan_.message_bytes()};
  }
  Bytes received_slot(std::uint32_t slot) override {
    return {received_.bytes.data() + offset_of(slot), plan_.message_bytes()};
  }
  Result<void> post(std::uint32_t message, std::uint32_t bytes) override;
  Result<std::span<const LinkEvent>> wait(Time until) override;

 private:
  std::size_t offset_of(std::uint32_t slot) const {
    return std::size_t{slot} * plan_.message_bytes();
  }
  std::size_t memory_bytes() const { return offset_of(plan_.slots()); }

  Result<void> open_queues();
  Result<verbs::QueuePair> make_queue_pair();
  // One direction of a connection: what the other end is called, and where each side begins to
  // count.
  struct Opposite {
    wire::Ipv4Address address;
    std::uint32_t queue_pair = 0;
    std::uint32_t its_psn = 0;
    std::uint32_t my_psn = 0;
  };
  Result<void> connect(ibv_qp& queue_pair, const Opposite& opposite);
  Result<void> expect_message();

  Result<void> collect();
  Result<void> note(const ibv_wc& completion);
  Error failure_of(const ibv_wc& completion) const;
  Result<void> sleep(Time until);
  Result<void> arm();
  void acknowledge_wakeups();

  Device device_;
  NetReducePlan plan_;
  std::uint8_t timeout_;
  verbs::Domain domain_;
  Region sent_;
  Region received_;
  verbs::Channel channel_;
  verbs::CompletionQueue completions_;
  verbs::QueuePair to_next_;
  verbs::QueuePair from_before_;
  std::uint32_t first_psn_;
  LinkNeighbour before_;
  LinkNeighbour next_;
  unsigned wakeups_ = 0;  // taken from the channel, and not acknowledged
  std::vector<LinkEvent> events_;
};

Result<void> DeviceLink::open() {
  if (mtu_code(plan_.mtu) > device_.mtu_max) {
    return fail(Error::Code::invalid_argument,
                "a path MTU of " + std::to_string(plan_.mtu) +
                    " bytes is too much for the RDMA "
                    "device " +
                    device_.name +
                    ": its interface needs an MTU of 64 bytes more at "
                    "least, or choose a smaller one (TRIBUTARY_NETREDUCE_MTU)");
  }
  domain_.reset(ibv_alloc_pd(device_.context.get()));
  if (!domain_) {
    return refused("a protection domain", device_.name, errno);
  }
  const auto enroll = [this](Region& region, int access) {
    region.registration.reset(
        ibv_reg_mr(domain_.get(), region.bytes.data(), memory_bytes(), access));
    return region.registration != nullptr;
  };
  if (!enroll(sent_, 0) || !enroll(received_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) {
    return refused(std::to_string(memory_bytes()) + " bytes of memory", device_.name, errno);
  }
  return open_queues();
}

Result<void> DeviceLink::open_queues() {
  channel_.reset(ibv_create_comp_channel(device_.context.get()));
  if (!channel_ || ::fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) {
    return refused("a completion channel", device_.name, errno);
  }
  // Sent messages, and those that came.
  const auto depth = static_cast<int>(2 * plan_.slots());
  completions_.reset(ibv_create_cq(device_.context.get(), depth, nullptr, channel_.get(), 0));
  if (!completions_) {
    return refused("a completion queue", device_.name, errno);
  }
  for (auto* place : {&to_next_, &from_before_}) {
    auto made = make_queue_pair();
    if (!made) {
      return tl::make_unexpected(made.error());
    }
    *place = std::move(*made);
  }
  for (std::uint32_t i = 0; i < plan_.slots(); ++i) {
    if (auto posted = expect_message(); !posted) {
      return posted;
    }
  }
  return arm();
}

Result<verbs::QueuePair> DeviceLink::make_queue_pair() {
  ibv_qp_init_attr wanted{};
  wanted.qp_type = IBV_QPT_RC;
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.cap.max_send_wr = wanted.cap.max_recv_wr = plan_.slots();
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  verbs::QueuePair made(ibv_create_qp(domain_.get(), &wanted));
  if (!made) {
    return refused("a queue pair", device_.name, errno);
  }
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.port;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (const int code =
          ibv_modify_qp(made.get(), &attributes,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      code != 0) {
    return refused("to set up a queue pair", device_.name, code);
  }
  return made;
}

LinkEnd DeviceLink::end() const {
  LinkEnd end;
  end.device = true;
  end.send_qp = to_next_->qp_num;
  end.first_psn = first_psn_;
  end.receive_qp = from_before_->qp_num;
  end.key = received_.registration->rkey;
  end.memory = reinterpret_cast<std::uintptr_t>(received_.bytes.data());
  return end;
}

Result<void> DeviceLink::connect(const LinkNeighbour& next, const LinkNeighbour& before) {
  before_ = before;
  next_ = next;
  auto done = connect(*from_before_,
                      {before.address, before.end.send_qp, before.end.first_psn, silent_psn});
  return done ? connect(*to_next_, {next.address, next.end.receive_qp, silent_psn, first_psn_})
              : done;
}

Result<void> DeviceLink::connect(ibv_qp& queue_pair, const Opposite& opposite) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = mtu_code(plan_.mtu);
  attributes.dest_qp_num = opposite.queue_pair;
  attributes.rq_psn = opposite.its_psn;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = unready_delay;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = device_.port;
  attributes.ah_attr.grh.dgid = verbs::gid_of(opposite.address);
  attributes.ah_attr.grh.sgid_index = device_.gid_index;
  attributes.ah_attr.grh.hop_limit = 64;
  if (const int code =
          ibv_modify_qp(&queue_pair, &attributes,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      code != 0) {
    return refused("to connect to " + to_string(opposite.address), device_.name, code);
  }
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = opposite.my_psn;
  attributes.timeout = timeout_;
  attributes.retry_cnt = rdma_retries;
  attributes.rnr_retry = retries_unready;
  attributes.max_rd_atomic = 1;
  if (const int code =
          ibv_modify_qp(&queue_pair, &attributes,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                            IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
      code != 0) {
    return refused("to send to " + to_string(opposite.address), device_.name, code);
  }
  return {};
}

// The data of an RDMA WRITE goes where its sender says; a receive is for the immediate.
Result<void> DeviceLink::expect_message() {
  ibv_recv_wr request{};
  ibv_recv_wr* failed = nullptr;
  if (const int code = ibv_post_recv(from_before_.get(), &request, &failed); code != 0) {
    return refused("a receive", device_.name, code);
  }
  return {};
}

Result<void> DeviceLink::post(std::uint32_t message, std::uint32_t bytes) {
  const auto offset = offset_of(message % plan_.slots());
  ibv_sge what{};
  what.addr = reinterpret_cast<std::uintptr_t>(sent_.bytes.data() + offset);
  what.length = bytes;
  what.lkey = sent_.registration->lkey;
  ibv_send_wr request{};
  request.wr_id = message;
  request.sg_list = &what;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = wire::byte_swap(message);
  request.wr.rdma.remote_addr = next_.end.memory + offset;
  request.wr.rdma.rkey = next_.end.key;
  ibv_send_wr* failed = nullptr;
  if (const int code = ibv_post_send(to_next_.get(), &request, &failed); code != 0) {
    return refused("a message to " + to_string(next_.address), device_.name, code);
  }
  return {};
}

Result<std::span<const LinkEvent>> DeviceLink::wait(Time until) {
  for (;;) {
    if (auto collected = collect(); !collected) {
      return tl::make_unexpected(collected.error());
    }
    if (!events_.empty() || Clock::now() >= until) {
      return std::span<const LinkEvent>(events_);
    }
    if (auto slept = sleep(until); !slept) {
      return tl::make_unexpected(slept.error());
    }
  }
}

Result<void> DeviceLink::collect() {
  std::array<ibv_wc, events_max> completions;
  events_.clear();
  const int count =
      ibv_poll_cq(completions_.get(), static_cast<int>(completions.size()), completions.data());
  if (count < 0) {
    return refused("its completions", device_.name, EIO);  // which error it is is not told
  }
  for (const auto& completion : std::span(completions).first(static_cast<std::size_t>(count))) {
    if (auto noted = note(completion); !noted) {
      return noted;
    }
  }
  return {};
}

Result<void> DeviceLink::note(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) {
    return tl::make_unexpected(failure_of(completion));
  }
  if (completion.opcode == IBV_WC_RDMA_WRITE) {
    events_.push_back(
        {LinkEvent::Kind::acknowledged, static_cast<std::uint32_t>(completion.wr_id), 0});
    return {};
  }
  if (completion.opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
    return fail(Error::Code::mismatch,
                to_string(before_.address) + " sends what is no gradient over the connection");
  }
  events_.push_back(
      {LinkEvent::Kind::arrived, wire::byte_swap(completion.imm_data), completion.byte_len});
  return expect_message();
}

Error DeviceLink::failure_of(const ibv_wc& completion) const {
  const auto next = to_string(next_.address);
  if (completion.status == IBV_WC_RETRY_EXC_ERR) {
    return {Error::Code::timeout,
            next + " has not acknowledged what was sent " + std::to_string(rdma_retries + 1) +
                " times: a rank was away too long, or RoCE packets (UDP port 4791) do not pass; "
                "'tributaryctl stalled' on the switch names the ranks that it waits for"};
  }
  return {Error::Code::network,
          "the RDMA device " + device_.name + ", connection " +
              (completion.qp_num == to_next_->qp_num ? "to " + next
                                                     : "from " + to_string(before_.address)) +
              ": " + ibv_wc_status_str(completion.status)};
}

// Until there may be completions, or until then. The queue is armed: what comes wakes us up.
Result<void> DeviceLink::sleep(Time until) {
  const auto left = std::max(until - Clock::now(), Clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec limit{
      seconds.count(),
      std::chrono::duration_cast<std::chrono::nanoseconds>(left - seconds).count()};
  pollfd readable{channel_->fd, POLLIN, 0};
  const int ready = ::ppoll(&readable, 1, &limit, nullptr);
  if (ready < 0 && errno != EINTR) {
    return refused("to be waited for", device_.name, errno);
  }
  if (ready <= 0) {
    return {};
  }
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_.get(), &queue, &context) != 0) {
    return errno == EAGAIN ? Result<void>() : refused("its wakeup", device_.name, errno);
  }
  if (++wakeups_ == 1024) {
    acknowledge_wakeups();
  }
  // What comes from here on wakes us up once more; the caller looks for what came before.
  return arm();
}

Result<void> DeviceLink::arm() {
  if (const int code = ibv_req_notify_cq(completions_.get(), 0); code != 0) {
    return refused("to wake anybody up", device_.name, code);
  }
  return {};
}

// A completion queue does not end before its wakeups are acknowledged. That takes a lock.
void DeviceLink::acknowledge_wakeups() {
  if (wakeups_ != 0) {
    ibv_ack_cq_events(completions_.get(), wakeups_);
    wakeups_ = 0;
  }
}

}  // namespace

Result<std::unique_ptr<VerbsLink>> open_verbs_link(const RdmaPlace& place,
                                                   const NetReducePlan& plan) {
  auto device = verbs::open_device(place.device, place.local);
  if (!device) {
    return tl::make_unexpected(device.error());
  }
  auto link = std::make_unique<DeviceLink>(std::move(*device), plan, place.timeout);
  if (auto opened = link->open(); !opened) {
    return tl::make_unexpected(opened.error());
  }
  return link;
}

}  // namespace tributary::host
