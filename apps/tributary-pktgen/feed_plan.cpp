// SPDX-License-Identifier: BSD-3-Clause
#include "feed_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "control/backend.h"

namespace tributary::pktgen {
namespace {

constexpr std::uint32_t ethernet_bytes = 14 + 4;  // with a VLAN tag

bool contains(const std::vector<unsigned>& cpus, unsigned cpu) {
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

// Returns the last CPU that is not one of `taken`.
std::optional<unsigned> free_cpu(const std::vector<unsigned>& allowed,
                                 const std::vector<unsigned>& taken) {
  const auto last = std::find_if(allowed.rbegin(), allowed.rend(),
                                 [&](unsigned cpu) { return !contains(taken, cpu); });
  return last == allowed.rend() ? std::nullopt : std::optional(*last);
}

// If packet cores are automatic, there is one: it is its cycles that are asked for.
control::Outcome choose_cpus(FeedPlan& plan, const FeedOptions& options,
                             const std::vector<unsigned>& allowed) {
  auto& cores = plan.config.cores;
  const auto feeder = options.core ? options.core : free_cpu(allowed, cores);
  if (!feeder) {
    return tl::unexpected(std::string(
        "no CPU is left for the feeder; name fewer with `cores` in [daemon], or allow more"));
  }
  if (cores.empty()) {
    const auto packets = free_cpu(allowed, {*feeder});
    if (!packets) {
      return tl::unexpected(std::string(
          "this takes two CPUs: one for the switch, one for the feeder; allow more, with "
          "taskset or the cpuset of its control group"));
    }
    cores = {*packets};
  }
  if (contains(cores, *feeder) || !contains(allowed, *feeder)) {
    return tl::unexpected(
        "--core " + std::to_string(*feeder) +
        (contains(cores, *feeder) ? " is a packet core" : " is none that this process may use") +
        "; the feeder has a CPU of its own");
  }
  plan.core = *feeder;
  return {};
}

// Gives the port a device that brings nothing, and drops what is sent.
void replace(FeedPlan& plan, control::DeviceConfig& device, const std::string& switch_name,
             const forwarding::PortConfig& port) {
  const auto files = std::get<control::PcapDevice>(device).rx;
  const auto name = "net_null_feed" + std::to_string(plan.queues.size());
  device = control::RawDevice{name + ",no-rx=1", static_cast<std::uint16_t>(files.size())};
  for (std::uint16_t queue = 0; queue < files.size(); ++queue) {
    plan.queues.push_back(
        {switch_name, port.name, name, queue, files[queue], port.mtu + ethernet_bytes});
  }
}

// Refuses what would not be the same as with the file.
control::Outcome check_fed(const switching::SwitchConfig& config,
                           const forwarding::PortConfig& port, const control::PcapDevice& pcap) {
  const auto refused = [&](const char* why) {
    return tl::unexpected("switch \"" + config.name + "\", port \"" + port.name + "\": " + why);
  };
  if (!pcap.tx.empty()) {
    return refused("what it sends is dropped; leave `tx` out");
  }
  const bool is_bridge_routed =
      config.bridge_address || config.bridge_address6 || !config.vlans.empty();
  if (port.mac.is_zero() && (port.is_routed() || is_bridge_routed)) {
    return refused(
        "frames are for an address of its own, and that of a fed port would be another one each "
        "time; give it mac = \"...\", the one that the frames have");
  }
  if (port.flow.mode != forwarding::FlowControl::off) {
    return refused(
        "a feed cannot be asked for silence, and one port that is not read holds up all ports of "
        "its core; leave `flow_control` out");
  }
  return {};
}

control::Outcome replace_devices(FeedPlan& plan) {
  for (auto& section : plan.config.switches) {
    for (std::size_t i = 0; i < section.devices.size(); ++i) {
      const auto* pcap = std::get_if<control::PcapDevice>(&section.devices[i]);
      if (pcap == nullptr || !pcap->infinite) {
        continue;
      }
      const auto& port = section.config.ports[i];
      if (auto usable = check_fed(section.config, port, *pcap); !usable) {
        return usable;
      }
      replace(plan, section.devices[i], section.config.name, port);
    }
  }
  if (plan.queues.empty()) {
    return tl::unexpected(
        std::string("there is nothing to feed from; give a port pcap = { rx = \"FILE\", "
                    "infinite = true }"));
  }
  return {};
}

}  // namespace

tl::expected<FeedPlan, std::string> plan_feed(control::DaemonConfig config,
                                              const FeedOptions& options,
                                              const std::vector<unsigned>& allowed) {
  FeedPlan plan;
  plan.config = std::move(config);
  const auto done =
      choose_cpus(plan, options, allowed).and_then([&] { return replace_devices(plan); });
  if (!done) {
    return tl::unexpected(done.error());
  }
  plan.config.packets += options.descriptors * static_cast<std::uint32_t>(plan.config.cores.size());
  return plan;
}

}  // namespace tributary::pktgen
