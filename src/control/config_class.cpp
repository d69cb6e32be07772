// SPDX-License-Identifier: BSD-3-Clause
// Here [[switch.class]] is read: the traffic classes of what leaves by the ports of a switch.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "wire/pause.h"

namespace tributary::control {
namespace {

using forwarding::Codepoint;
using forwarding::FlowControl;
using forwarding::PortConfig;
using forwarding::TrafficClass;

constexpr std::uint32_t weights_max = 1000;

Parsed<Codepoint> parse_codepoint(std::string_view text) {
  if (const auto codepoint = forwarding::codepoint_named(text)) {
    return *codepoint;
  }
  return tl::unexpected(
      Complaint{"`" + std::string(text).substr(0, 64) + "` is no codepoint of DiffServ",
                "for example \"ef\", \"cs4\", \"af21\", or a number as \"34\", up to \"63\""});
}

constexpr Word<bool> service_words[] = {{"weighted", false}, {"strict", true}};

constexpr Option<TrafficClass> class_table[] = {
    option::label<&TrafficClass::name>("name", Apply::reload, "unique in the switch").required(),
    option::list<&TrafficClass::codepoints, parse_codepoint>(
        "dscp", Apply::reload, "names as `\"ef\"`, `\"cs4\"`, `\"af21\"`, or numbers as `\"34\"`",
        "of the IPv4 and IPv6 packets that are of this class, each in one class only; the class "
        "that has neither `dscp` nor `pcp`, and there has to be one, gets what no other takes")
        .unset_is("none"),
    option::parsed<&TrafficClass::pcp, parse_priorities>(
        "pcp", Apply::reload, "of 0 to 7",
        "priorities of the VLAN tags of its frames, `\"3,4\"`, each in one class only; they count "
        "for what came by ports with `trust = \"pcp\"`, where `dscp` does not")
        .unset_is("none"),
    option::words<&TrafficClass::strict, service_words>(
        "service", Apply::reload,
        "`\"strict\"` classes go first, in their order here; `\"weighted\"` ones share what these "
        "leave of the line"),
    option::integer<&TrafficClass::weight>("weight", Apply::reload, {1, weights_max},
                                           "of its share, beside the other weighted classes that "
                                           "have something to send"),
    option::rate<&TrafficClass::rate_bps>("rate", Apply::reload, {10'000, 1'000'000'000'000},
                                          "most that it sends by each port, as `rate` of a port")
        .unset_is("unlimited"),
    option::size<&TrafficClass::capacity_bytes>(
        "queue", Apply::reload, {2 * 1024, 1024 * 1024 * 1024},
        "its part of each port's `queue`; the tail is dropped beyond it")
        .unset_is("automatic")
        .default_is("automatic: an even part of what other classes leave"),
    option::integer<&TrafficClass::ecn_threshold_packets>(
        "ecn_threshold", Apply::reload, {0, 1u << 20},
        "its packets in a port's queue from which ECN-capable packets are marked; 0: never"),
    option::integer<&TrafficClass::ecn_ramp_packets>(
        "ecn_ramp", Apply::reload, {0, 1u << 20},
        "so many packets above `ecn_threshold` all are marked, and in between a part of them that "
        "rises, as by RED; 0: all from the threshold on"),
    option::integer<&TrafficClass::pfc_priority>(
        "pfc_priority", Apply::reload, {0, wire::priority_classes - 1},
        "by the ports with `flow_control = \"pfc\"` the class is lossless, and its frames are of "
        "this priority (IEEE 802.1Qbb)")
        .unset_is("none")
        .default_is("none: the class drops what it has no room for"),
};

void check_names(const SwitchDraft& draft, Diagnostics& diagnostics) {
  std::set<std::string_view> names;
  const auto& classes = draft.config.classes;
  for (std::size_t row = 0; row < classes.size(); ++row) {
    if (!names.insert(classes[row].name).second) {
      diagnostics.error(position_of(*draft.classes[row], "name"),
                        "another class of this switch is called `" + classes[row].name + "`",
                        "choose another name");
    }
  }
}

// A marking says one class.
void check_markings(const SwitchDraft& draft, Diagnostics& diagnostics) {
  std::set<std::uint8_t> codepoints;
  std::set<std::size_t> priorities;
  const auto given_before = [&](std::size_t row, std::string_view key, const std::string& what) {
    diagnostics.error(position_of(*draft.classes[row], key), what + " was given to a class before",
                      "a packet is of one class");
  };
  const auto& classes = draft.config.classes;
  for (std::size_t row = 0; row < classes.size(); ++row) {
    for (const auto codepoint : classes[row].codepoints) {
      if (!codepoints.insert(codepoint.value).second) {
        given_before(row, "dscp", "codepoint " + to_string(codepoint));
      }
    }
    for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
      if (classes[row].pcp && classes[row].pcp->has(priority) &&
          !priorities.insert(priority).second) {
        given_before(row, "pcp", "priority " + std::to_string(priority));
      }
    }
  }
}

void check_rest(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& classes = draft.config.classes;
  const auto rest = std::count_if(classes.begin(), classes.end(),
                                  [](const auto& one) { return one.takes_the_rest(); });
  if (rest != 1) {
    diagnostics.error(
        position_of(*draft.classes.back(), "dscp"),
        rest == 0 ? "no class takes the packets of all other codepoints and priorities"
                  : "two classes without `dscp` and `pcp`: both would take what no other does",
        "one [[switch.class]] has no `dscp` and no `pcp`");
  }
}

// Each class needs room for a frame in the queue of each port, and together they have no more.
void check_room(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& classes = draft.config.classes;
  std::uint64_t said = 0;
  std::uint64_t silent = 0;
  for (const auto& one : classes) {
    said += one.capacity_bytes;
    silent += one.capacity_bytes == 0 ? 1 : 0;
  }
  for (std::size_t p = 0; p < draft.config.ports.size(); ++p) {
    const auto& port = draft.config.ports[p];
    const std::uint64_t frame = forwarding::frame_bytes_max(port);
    const auto needed = said + silent * frame;
    if (needed > port.queue.capacity_bytes) {
      diagnostics.error(
          position_of(*draft.ports[p], "queue"),
          "`queue` of port `" + port.name + "` is less than its classes need: " + size_text(needed),
          "a larger `queue` here, or smaller ones in [[switch.class]]");
    }
    for (std::size_t row = 0; row < classes.size(); ++row) {
      if (classes[row].capacity_bytes > 0 && classes[row].capacity_bytes < frame) {
        diagnostics.error(position_of(*draft.classes[row], "queue"),
                          "`queue` cannot hold one frame of the MTU of port `" + port.name + "`",
                          "at least " + std::to_string(frame) + "B");
      }
    }
  }
}

void check_service(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& classes = draft.config.classes;
  for (std::size_t row = 0; row < classes.size(); ++row) {
    if (classes[row].strict && draft.classes[row]->contains("weight")) {
      diagnostics.error(position_of(*draft.classes[row], "weight"),
                        "`weight` of a class that is \"strict\"",
                        "it goes before all that have a weight; leave one of both out");
    }
  }
}

// Priority flow control is that of classes, where there are some. PAUSE would stop all of them.
void check_mode(const SwitchDraft& draft, std::size_t port, Diagnostics& diagnostics) {
  const auto& flow = draft.config.ports[port].flow;
  const toml::table& source = *draft.ports[port];
  const auto& classes = draft.config.classes;
  const bool any_lossless =
      std::any_of(classes.begin(), classes.end(), [](const auto& one) { return one.pfc_priority; });
  if (flow.mode == FlowControl::pause) {
    diagnostics.error(position_of(source, "flow_control"),
                      "`flow_control = \"pause\"` in a switch that has traffic classes",
                      "PAUSE stops all classes; write \"pfc\", and `pfc_priority` in the "
                      "[[switch.class]] that is not to lose a frame");
  } else if (!flow.lossless.is_unspecified()) {
    diagnostics.error(position_of(source, "pfc_priorities"),
                      "`pfc_priorities` in a switch that has traffic classes",
                      "`pfc_priority` of a [[switch.class]] says it");
  } else if (flow.mode == FlowControl::pfc && !any_lossless) {
    diagnostics.error(position_of(source, "flow_control"),
                      "`flow_control`, but no class of the switch is lossless",
                      "write `pfc_priority` in the [[switch.class]] that is not to lose a frame");
  }
}

bool has_pfc(const PortConfig& port) {
  return port.flow.mode == FlowControl::pfc;
}

void check_lossless(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  for (std::size_t port = 0; port < ports.size(); ++port) {
    check_mode(draft, port, diagnostics);
  }
  const bool any_pfc = std::any_of(ports.begin(), ports.end(), has_pfc);
  for (std::size_t row = 0; row < draft.classes.size(); ++row) {
    if (!any_pfc && draft.config.classes[row].pfc_priority) {
      diagnostics.error(position_of(*draft.classes[row], "pfc_priority"),
                        "`pfc_priority`, but no port of the switch has priority flow control",
                        "write flow_control = \"pfc\" in [[switch.port]]");
    }
  }
}

// The neighbour stops frames by the priority of their tags.
void check_priorities(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& [ports, classes] = std::tie(draft.config.ports, draft.config.classes);
  const bool any_stopped = std::any_of(ports.begin(), ports.end(), [](const auto& port) {
    return has_pfc(port) && port.trusts_tags;
  });
  for (std::size_t row = 0; row < classes.size(); ++row) {
    const auto& [pcp, priority] = std::tie(classes[row].pcp, classes[row].pfc_priority);
    if (any_stopped && priority && !pcp) {
      diagnostics.error(position_of(*draft.classes[row], "pfc_priority"),
                        "a lossless class without `pcp`, beside ports with flow control that go by "
                        "the priority of tags",
                        "write pcp = \"" + std::to_string(*priority) +
                            "\", and a class for the rest: neighbours stop frames by the priority "
                            "of their tags");
    }
    if (pcp && priority && pcp->bits != 1u << *priority) {
      diagnostics.error(position_of(*draft.classes[row], "pcp"),
                        "`pcp` of a lossless class is not just its `pfc_priority`",
                        "write pcp = \"" + std::to_string(*priority) +
                            "\": neighbours stop frames by the priority of their tags");
    }
  }
}

bool is_told_by_tags(const TrafficClass& one) {
  return one.pcp.has_value();
}

// Priorities of tags tell classes apart where some port goes by them, and only there.
void check_trust(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  const auto& classes = draft.config.classes;
  const bool any_trust =
      std::any_of(ports.begin(), ports.end(), [](const auto& port) { return port.trusts_tags; });
  const bool any_pfc = std::any_of(ports.begin(), ports.end(), has_pfc);
  const bool any_told = std::any_of(classes.begin(), classes.end(), is_told_by_tags);
  for (std::size_t row = 0; row < classes.size(); ++row) {
    if (!any_trust && is_told_by_tags(classes[row])) {
      diagnostics.error(position_of(*draft.classes[row], "pcp"),
                        "`pcp`, but no port of the switch goes by the priority of tags",
                        "write trust = \"pcp\" in [[switch.port]]");
    }
  }
  for (std::size_t port = 0; port < ports.size(); ++port) {
    if (ports[port].trusts_tags && !any_told && (!classes.empty() || !any_pfc)) {
      diagnostics.error(position_of(*draft.ports[port], "trust"),
                        "`trust = \"pcp\"`, but no class of the switch has `pcp`",
                        "write `pcp` in the [[switch.class]] that takes these frames");
    }
  }
}

}  // namespace

constinit const Options<TrafficClass> class_options = class_table;

void read_class(Reader& reader, SwitchDraft& out) {
  out.classes.push_back(&reader.source());
  read_options(reader, class_options, out.config.classes.emplace_back());
}

void check_classes(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  check_trust(draft, diagnostics);
  if (config.classes.empty()) {
    return;
  }
  if (config.classes.size() > forwarding::traffic_classes_max) {
    diagnostics.error(position_of(*draft.classes[forwarding::traffic_classes_max], "name"),
                      "a switch has up to " + std::to_string(forwarding::traffic_classes_max) +
                          " traffic classes",
                      {});
  }
  check_names(draft, diagnostics);
  check_markings(draft, diagnostics);
  check_rest(draft, diagnostics);
  check_service(draft, diagnostics);
  check_room(draft, diagnostics);
  check_lossless(draft, diagnostics);
  check_priorities(draft, diagnostics);
}

}  // namespace tributary::control
