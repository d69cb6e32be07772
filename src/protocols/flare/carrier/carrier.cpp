// SPDX-License-Identifier: BSD-3-Clause
// Runs a communicator's collectives by Flare, and finds out whether its reduction tree answers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/chunks.h"
#include "host/exact/formats.h"
#include "host/machine_carrier.h"
#include "host/payload.h"
#include "host/protocol.h"
#include "host/socket_preparation.h"
#include "host/sparse_vector.h"
#include "host/text.h"
#include "protocols/flare/carrier/options.h"
#include "protocols/flare/carrier/socket.h"
#include "protocols/flare/host/collectives.h"
#include "protocols/flare/host/packets.h"
#include "protocols/flare/host/plan.h"
#include "protocols/flare/host/sparse_packets.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/wire.h"

namespace tributary::host {
namespace {

constexpr auto flare = "flare";

constexpr Algorithm flare_names[] = {{flare}};

constexpr auto flare_advice =
    "see that TRIBUTARY_JOB, TRIBUTARY_FLARE_TREE and TRIBUTARY_FLARE_WINDOW are those of "
    "'tributaryctl fabric show', that every rank is behind its own port of the tree, and that the "
    "switches take packets as large as the hosts' MTU (TRIBUTARY_MTU; 'tributaryctl drops': "
    "flare_...)";

constexpr auto advice_without_tree =
    "set TRIBUTARY_FLARE_TREE on every rank to what 'tributaryctl fabric show' says of the job, "
    "or, "
    "if it says that the job has no place, do what it says there";

constexpr auto advice_on_sparse =
    "see that TRIBUTARY_FLARE_SPARSE_WINDOW is the tree's `sparse_window` ('tributaryctl fabric "
    "show'; 'tributaryctl drops': flare_not_sparse, flare_mismatch), or leave it at 0";

Result<Choice> choose(const CommunicatorOptions& options, const FlareCollectives& machine,
                      const Observation& observation) {
  const auto start = who(options, machine.job().id);
  if (observation.failed != 0) {
    return fall_back(options, start, why_not("the reduction tree does not answer", observation),
                     flare_advice);
  }
  const auto& plan = machine.plan();
  return Choice{flare, start + "flare over the tree " + to_string(plan.group) + ", window " +
                           std::to_string(plan.window)};
}

// Where the tree answers for dense blocks and not for sparse ones, these alone go round the ring.
Result<Choice> choose_sparse(const CommunicatorOptions& options, const FlareCollectives& machine,
                             const Choice& dense, const Observation& observation) {
  if (observation.failed == 0) {
    return Choice{dense.algorithm, dense.notice + ", of sparse blocks " +
                                       std::to_string(machine.plan().sparse_window)};
  }
  const auto why = why_not("the reduction tree does not answer for sparse blocks", observation);
  if (options.fallback == Fallback::error) {
    return fall_back(options, who(options, machine.job().id), why, advice_on_sparse);
  }
  return Choice{
      dense.algorithm,
      dense.notice + "; sparse allreduces by the hosts' ring: " + why + "; " + advice_on_sparse,
      why};
}

// Reduces an empty block of each flow.
Result<void> reduce_empty_blocks(Runner& runner, const Deadline& until) {
  const auto full = flare_sparse_full(runner.job().payload_bytes);
  const wire::FlareSparseShape shape{wire::element_bytes(wire::ElementType::f32), full};
  SparseElements sum;
  SparseCall sparse;
  sparse.buffers.count = wire::flare_flows * shape.span_max();
  sparse.sum = &sum;
  Call call;
  call.sparse = &sparse;
  return runner.run(call, until);
}

// Behind blocks that got no result a switch takes new ones only after a second of silence, and
// ranks that wait send again every half a second.
constexpr Duration probe_least = std::chrono::seconds(3);

class FlareCarrier final : public MachineCarrier<FlareCollectives> {
 public:
  FlareCarrier(const Job& job, const FlarePlan& plan, UringTransport transport,
               const CommunicatorOptions& options)
      : MachineCarrier(std::make_unique<FlareCollectives>(job, plan), std::move(transport), options,
                       flare_headers_bytes) {}

  Result<Choice> find_out(Ring& ring, const Deadline& until) override {
    if (!has_tree(options())) {  // as on all ranks, which agreed on it
      return fall_back(options(), who(options(), machine().job().id), "no reduction tree was named",
                       advice_without_tree);
    }
    auto choice = find_out_dense(ring, until);
    // Switches do not add up what is sparse in an order that is always the same.
    const bool may_be_sparse = machine().has_sparse() && !options().reproducible;
    if (choice && choice->algorithm == flare && may_be_sparse) {
      choice = find_out_sparse(ring, until, *choice);
    }
    return choice.map([&](Choice found) { return with_size_found(std::move(found)); });
  }

  bool takes_sparse() const override { return takes_sparse_; }
  // Returns whether a reproducible tree is meant for these; ranks are not told whether theirs is
  // one.
  bool orders(const Buffers& buffers) const override {
    return exact::is_float(buffers.type) &&
           (buffers.op == wire::Operator::sum || buffers.op == wire::Operator::prod);
  }

  std::size_t packets_max() const override { return Chunks::count_max; }

 private:
  // Sends a full packet of each flow, so that every core that has some of the blocks is asked.
  Result<Choice> find_out_dense(Ring& ring, const Deadline& until) {
    const auto observed = look_along_path([&](Duration patience) {
      const auto bytes = std::size_t{wire::flare_flows} * machine().job().payload_bytes;
      return look(runner(), ring, {bytes}, until, {.patience = std::max(patience, probe_least)});
    });
    return observed.and_then(
        [&](const Observation& observation) { return choose(options(), machine(), observation); });
  }

  Result<Choice> find_out_sparse(Ring& ring, const Deadline& until, const Choice& dense) {
    return observe(runner(), ring, reduce_empty_blocks, until)
        .and_then([&](const Observation& observation) {
          takes_sparse_ = observation.failed == 0;
          return choose_sparse(options(), machine(), dense, observation);
        });
  }

  bool takes_sparse_ = false;
};

Result<std::unique_ptr<Preparation>> prepare_flare(const CommunicatorOptions& options,
                                                   const Place& place) {
  const auto own = flare_options_of(options);
  std::optional<wire::Ipv4Address> group;
  if (has_tree(options)) {
    const auto named = flare_group_of(own.tree);
    if (!named) {
      return tl::make_unexpected(named.error());
    }
    group = *named;
  }
  // Windows do not yield to marks: packets ask for none.
  auto socket = open_flare_socket(place.ip(), group, tos_of(options, wire::ecn::not_ect));
  if (!socket) {
    return tl::make_unexpected(socket.error());
  }
  // The window is not what the receive buffer holds: switches were told it beforehand.
  Offer offer;
  offer.payload_bytes = payload_bytes_behind(flare_headers_bytes, place.mtu);
  offer.window = own.window;
  const FlarePlan plan{group.value_or(wire::Ipv4Address()), own.window, own.sparse_window};
  return prepare_socket(std::move(*socket), offer,
                        [&options, plan](const Meeting& meeting, UringTransport transport) {
                          return std::make_unique<FlareCarrier>(meeting.job, plan,
                                                                std::move(transport), options);
                        });
}

Result<void> refuse_to_divide(CommunicatorOptions& /*options*/, std::uint32_t /*group*/) {
  return invalid(
      "parallel groups cannot share Flare's reduction tree; choose the hierarchy tencent, or "
      "another algorithm");
}

}  // namespace
}  // namespace tributary::host

namespace tributary::flare {

extern const host::HostProtocol host_protocol;
constexpr host::HostProtocol host_protocol{
    .name = host::flare,
    .algorithms = host::flare_names,
    .parameters = host::flare_parameters,
    .udp_ports = {wire::flare_udp_port, wire::flare_udp_port},
    .configured = host::has_tree,
    .over_ipv6 = true,
    .check = host::check_flare,
    .prepare = host::prepare_flare,
    .divide = host::refuse_to_divide};

}  // namespace tributary::flare
