// SPDX-License-Identifier: BSD-3-Clause
// This file has the carriers of allreduces over several interfaces.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/cube/interfaces.h"
#include "host/cube/layout.h"
#include "host/cube/networks.h"
#include "host/cube/protocol.h"
#include "host/cube/runner.h"
#include "host/payload.h"
#include "host/ring/doubling.h"
#include "host/text.h"

namespace tributary::host {
namespace {

// These are the headers of IP, and of TCP with its time stamps.
constexpr std::uint32_t tcp_headers_bytes = 20 + 32;
// Connections of all ranks at once may take so long on hosts that do much else.
constexpr auto connect_patience = std::chrono::seconds(20);

constexpr Algorithm known_as[] = {{"bcube"}, {"mesh"}, {"bcube-switches"}, {"mesh-switches"}};

CubeLayout::Kind kind_of(const CommunicatorOptions& options) {
  return options.algorithm.starts_with("bcube") ? CubeLayout::Kind::bcube : CubeLayout::Kind::mesh;
}
bool is_by_switches(const CommunicatorOptions& options) {
  return options.algorithm.ends_with("-switches");
}

constexpr Parameter cube_parameters[] = {
    {.name = "interfaces",
     .kind = Parameter::Kind::list,
     .help = "names or addresses of a rank's interfaces over which vectors are spread, up to 4, "
             "in the order of the networks that ranks share; without them, the one of its address",
     .option = "--interfaces"},
    {.name = "cube_pieces",
     .otherwise = "1",
     .help = "cuts a part of a vector, by `bcube-switches` alone, into so many pieces at most, of "
             "64 KiB or more, to be scattered, added and gathered in turn; fewer bytes, more calls",
     .option = "--cube-pieces",
     .agreed = true,
     .least = 1,
     .most = 64},
};

std::vector<std::string> interfaces_of(const CommunicatorOptions& options) {
  return Values(options.parameters, cube_parameters).list("interfaces");
}

Result<void> check_cube(const CommunicatorOptions& options) {
  if (options.fallback == Fallback::error && !is_by_switches(options)) {
    return invalid(options.algorithm +
                   " never uses the switches: choose another algorithm, or allow the fallback to "
                   "the hosts");
  }
  const auto given = interfaces_of(options).size();
  const auto interfaces = static_cast<std::uint32_t>(std::max<std::size_t>(given, 1));
  if (options.world_size == 1) {
    return {};
  }
  return CubeLayout::of(kind_of(options), options.rank, options.world_size, interfaces)
      .map([](const auto&) {});
}

// Has what the carriers of either kind have in common.
class CubeCarrier : public Carrier {
 public:
  CubeCarrier(const CommunicatorOptions& options, const Job& job)
      : options_(options), payload_bytes_(job.payload_bytes) {}

  Result<void> attend() override { return {}; }
  Result<Choice> find_out(Ring& ring, const Deadline& until) override {
    const auto attempt = [this](Runner&, const Deadline& latest) { return connect(latest.due()); };
    return observe(runner(), ring, attempt, until, {[] { return true; }, connect_patience})
        .and_then([&](const Observation& seen) -> Result<Choice> {
          const auto start = who(options_, runner().job().id);
          if (seen.failed != 0) {
            return fail(Error::Code::network,
                        start + why_not(options_.algorithm + " has not all connections for", seen));
          }
          return Choice{options_.algorithm, start + options_.algorithm + manner()};
        });
  }
  // Short vectors are faster by recursive doubling over one interface.
  bool takes(const Call& call) const override {
    return call.collective == Collective::allreduce && call.buffers.bytes() > doubling_bytes_max;
  }
  FullPacket full_packet() const override {
    return {payload_bytes_, payload_bytes_ + tcp_headers_bytes};
  }

 protected:
  virtual Result<void> connect(Time until) = 0;
  // Tells people how it goes.
  virtual std::string manner() = 0;

 private:
  const CommunicatorOptions& options_;
  std::uint32_t payload_bytes_;
};

class HostsCarrier final : public CubeCarrier {
 public:
  template <typename... Arguments>
  HostsCarrier(const CommunicatorOptions& options, const Meeting& meeting, const CubeLayout& layout,
               Arguments&&... arguments)
      : CubeCarrier(options, meeting.job),
        layout_(layout),
        runner_(meeting.job, layout, std::forward<Arguments>(arguments)...) {}

  Runner& runner() override { return runner_; }
  Result<void> hear() override { return runner_.hear(); }
  Error explain(const Error& why) override { return runner_.explain(why); }
  ProtocolStatistics statistics() override {
    ProtocolStatistics statistics{cube_protocol.name.data(), {}, {}};
    for (std::size_t i = 0; i < runner_.traffic().size(); ++i) {
      const auto start = "interface_" + std::to_string(i);
      statistics.figures.add({start + "_bytes_sent", runner_.traffic()[i].bytes_sent});
      statistics.figures.add({start + "_bytes_received", runner_.traffic()[i].bytes_received});
    }
    return statistics;
  }

 private:
  Result<void> connect(Time until) override { return runner_.connect(until); }
  std::string manner() override {
    return ", the hosts reduce over " + std::to_string(layout_.interfaces()) +
           " interfaces each, in groups of " + std::to_string(layout_.group_size());
  }

  CubeLayout layout_;
  CubeRunner runner_;
};

class NetworksCarrier final : public CubeCarrier {
 public:
  template <typename... Arguments>
  NetworksCarrier(const CommunicatorOptions& options, const Meeting& meeting,
                  Arguments&&... arguments)
      : CubeCarrier(options, meeting.job),
        runner_(options, meeting.job, std::forward<Arguments>(arguments)...) {}

  Runner& runner() override { return runner_; }
  Result<void> hear() override { return runner_.hear(); }
  bool takes(const Call& call) const override {
    return CubeCarrier::takes(call) && !needs_handler(call);
  }
  std::optional<std::string> news() override {
    auto news = runner_.take_notices();
    return news.empty() ? std::nullopt : std::optional(std::move(news));
  }
  ProtocolStatistics statistics() override {
    return {cube_protocol.name.data(), runner_.figures(), {}};
  }

 private:
  Result<void> connect(Time until) override { return runner_.connect(until); }
  std::string manner() override { return "; " + runner_.take_notices(); }

  CubeNetworks runner_;
};

class CubePreparation final : public Preparation {
 public:
  CubePreparation(const CommunicatorOptions& options, std::vector<CubeInterface> interfaces,
                  std::uint32_t mtu)
      : options_(options), interfaces_(std::move(interfaces)) {
    offer_.payload_bytes = payload_bytes_behind(tcp_headers_bytes, mtu);
    offer_.window = 1;
    offer_.end = end_of(interfaces_);
  }

  Offer offer() const override { return offer_; }
  Result<std::unique_ptr<Carrier>> join(const Meeting& meeting) override {
    using Made = Result<std::unique_ptr<Carrier>>;
    auto all = endpoints_of(meeting);
    if (!all) {
      return tl::make_unexpected(all.error());
    }
    const auto count = static_cast<std::uint32_t>(interfaces_.size());
    return CubeLayout::of(kind_of(options_), options_.rank, options_.world_size, count)
        .and_then([&](const CubeLayout& layout) -> Made {
          if (is_by_switches(options_)) {
            const auto pieces = Values(options_.parameters, cube_parameters).number("cube_pieces");
            return std::make_unique<NetworksCarrier>(options_, meeting, layout, pieces,
                                                     std::move(interfaces_), std::move(*all));
          }
          return std::make_unique<HostsCarrier>(options_, meeting, layout, std::move(interfaces_),
                                                std::move(*all));
        });
  }

 private:
  const CommunicatorOptions& options_;
  std::vector<CubeInterface> interfaces_;
  Offer offer_;
};

Result<std::unique_ptr<Preparation>> prepare_cube(const CommunicatorOptions& options,
                                                  const Place& place) {
  return open_interfaces(interfaces_of(options), place.ip())
      .map([&](std::vector<CubeInterface> interfaces) -> std::unique_ptr<Preparation> {
        return std::make_unique<CubePreparation>(options, std::move(interfaces), place.mtu);
      });
}

}  // namespace

constexpr HostProtocol cube_protocol{.name = "cube",
                                     .algorithms = known_as,
                                     .parameters = cube_parameters,
                                     .over_ipv6 = true,
                                     .check = check_cube,
                                     .prepare = prepare_cube};

}  // namespace tributary::host
