// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/verbs/verbs_link.h"

#include <cerrno>
#include <random>
#include <utility>
#include <vector>

#include "host/job.h"
#include "host/transport/address.h"
#include "protocols/netreduce/carrier/verbs/completions.h"
#include "protocols/netreduce/carrier/verbs/device.h"
#include "protocols/netreduce/carrier/verbs/queue_pair.h"
#include "protocols/netreduce/carrier/verbs/refusal.h"
#include "protocols/netreduce/carrier/verbs/resources.h"
#include "wire/roce.h"

namespace tributary::host {
namespace {

using verbs::Device;
using verbs::refused;
using wire::Bytes;
using wire::MutableBytes;

// The queue pair that only receives numbers nothing of its own, so any number will do here.
constexpr std::uint32_t silent_psn = 0;

// A region is memory that the device reads from or writes to.
struct Region {
  std::vector<std::byte> bytes;
  verbs::Memory registration{};  // deregistered before `bytes` is freed
};

class DeviceLink final : public VerbsLink {
 public:
  DeviceLink(Device device, const NetReducePlan& plan, const RdmaPlace& place)
      : device_(std::move(device)),
        plan_(plan),
        path_{plan.mtu, place.timeout, rdma_retries, place.tos},
        sent_{std::vector<std::byte>(memory_bytes())},
        received_{std::vector<std::byte>(memory_bytes())},
        first_psn_(std::random_device()() & wire::psn_mask) {}

  Result<void> open();
  LinkEnd end() const override;
  Result<void> connect(const NetReducePlan& plan, const LinkNeighbour& next,
                       const LinkNeighbour& before) override;

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
  Result<void> clear_queues();
  Result<void> expect_message();

  Result<void> collect();
  Result<void> note(const ibv_wc& completion);
  Error failure_of(const ibv_wc& completion) const;

  Device device_;
  NetReducePlan plan_;
  verbs::Path path_;
  verbs::Domain domain_;
  Region sent_;
  Region received_;
  verbs::Completions completions_;
  verbs::QueuePair to_next_;
  verbs::QueuePair from_before_;
  std::uint32_t first_psn_;
  LinkNeighbour before_;
  LinkNeighbour next_;
  std::vector<LinkEvent> events_;
};

Result<void> DeviceLink::open() {
  if (verbs::mtu_code(plan_.mtu) > device_.mtu_max) {
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
  // There is room for all sent messages, and for all that came.
  if (auto opened = completions_.open(device_, 2 * plan_.slots()); !opened) {
    return opened;
  }
  for (auto* place : {&to_next_, &from_before_}) {
    auto made = verbs::make_queue_pair(device_, *domain_, completions_.queue(), plan_.slots());
    if (!made) {
      return tl::make_unexpected(made.error());
    }
    *place = std::move(*made);
  }
  return {};
}

Result<void> DeviceLink::clear_queues() {
  for (auto* queue_pair : {to_next_.get(), from_before_.get()}) {
    if (auto cleared = verbs::clear(device_, *queue_pair); !cleared) {
      return cleared;
    }
  }
  // What completed before stays in the queue with some devices.
  for (auto left = completions_.take(); !left || !left->empty(); left = completions_.take()) {
    if (!left) {
      return tl::make_unexpected(left.error());
    }
  }
  for (std::uint32_t i = 0; i < plan_.slots(); ++i) {
    if (auto posted = expect_message(); !posted) {
      return posted;
    }
  }
  return {};
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

Result<void> DeviceLink::connect(const NetReducePlan& plan, const LinkNeighbour& next,
                                 const LinkNeighbour& before) {
  plan_ = plan;
  path_.mtu = plan.mtu;
  before_ = before;
  next_ = next;
  return clear_queues()
      .and_then([&] {
        return verbs::connect(device_, *from_before_,
                              {before.address.v4(), before.end.send_qp,
                               first_psn_of(before.end, plan.run), silent_psn},
                              path_);
      })
      .and_then([&] {
        return verbs::connect(
            device_, *to_next_,
            {next.address.v4(), next.end.receive_qp, silent_psn, first_psn_of(end(), plan.run)},
            path_);
      });
}

// The data of an RDMA WRITE goes where its sender says; a receive is only for the immediate.
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
    if (auto slept = completions_.sleep(until); !slept) {
      return tl::make_unexpected(slept.error());
    }
  }
}

Result<void> DeviceLink::collect() {
  events_.clear();
  const auto completions = completions_.take();
  if (!completions) {
    return tl::make_unexpected(completions.error());
  }
  for (const auto& completion : *completions) {
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

}  // namespace

Result<std::unique_ptr<VerbsLink>> open_verbs_link(const RdmaPlace& place,
                                                   const NetReducePlan& plan) {
  auto device = verbs::open_device(place.device, place.local);
  if (!device) {
    return tl::make_unexpected(device.error());
  }
  auto link = std::make_unique<DeviceLink>(std::move(*device), plan, place);
  if (auto opened = link->open(); !opened) {
    return tl::make_unexpected(opened.error());
  }
  return link;
}

}  // namespace tributary::host
