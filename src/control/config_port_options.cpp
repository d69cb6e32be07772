// SPDX-License-Identifier: BSD-3-Clause
// Here are the options of [[switch.port]], and impairments; what a port is attached to is in
// config_port.cpp.

#include "control/config_options.h"
#include "control/option_kinds.h"

namespace tributary::control {
namespace {

using forwarding::FlowControl;
using forwarding::FlowControlConfig;
using forwarding::ImpairmentConfig;
using forwarding::LearningConfig;
using forwarding::PortConfig;
using forwarding::QueueConfig;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Limits queue_bytes{2 * 1024, 1024 * 1024 * 1024};
constexpr Range<Duration> delays{Duration{0}, seconds(10)};

constexpr Word<FlowControl> flow_words[] = {
    {name(FlowControl::off), FlowControl::off},
    {name(FlowControl::pause), FlowControl::pause},
    {name(FlowControl::pfc), FlowControl::pfc},
};

// What the class of a frame goes by that comes by the port.
constexpr Word<bool> trust_words[] = {{"dscp", false}, {"pcp", true}};

constexpr Option<PortConfig> port_table[] = {
    option::label<&PortConfig::name>("name", Apply::restart, "unique in the switch").required(),
    option::parsed<&PortConfig::address, parse_interface_address>(
        "address", Apply::restart, "/4 to /32",
        "`\"10.1.1.1/24\"`; no two interfaces of a switch share a prefix, no address occurs twice")
        .unset_is("none")
        .default_is("none: bridged"),
    option::parsed<&PortConfig::address6, parse_interface_address6>(
        "address6", Apply::restart, "/16 to /128",
        "`\"2001:db8:1::1/64\"`; the same of IPv6, beside `address` or alone")
        .unset_is("none")
        .default_is("none: bridged, or IPv4 only"),
    option::words<&PortConfig::advertise6, on_off_words>(
        "advertise6", Apply::reload,
        "`\"on\"`: hosts behind this port are told of the router and of the prefix of `address6`, "
        "a "
        "/64, of which they make addresses (router advertisements)"),
    option::parsed<&PortConfig::mac, parse_mac>("mac", Apply::restart, {},
                                                "of the port; not a group address")
        .unset_is("automatic"),
    option::integer<&PortConfig::mtu>("mtu", Apply::restart, {mtu_min, mtu_max},
                                      "bytes of IP; equal at both ends of a link"),
    option::words<&PortConfig::trusts_tags, trust_words>(
        "trust", Apply::reload,
        "what the class and the priority of a frame that comes by this port follow from: "
        "`\"dscp\"`, whether it has a tag or not, or `\"pcp\"`, the priority of its VLAN tag, "
        "which is 0 without a tag"),
    option::by_hand<PortConfig>("impair", Apply::reload, {},
                                "a bad cable, both directions; or `impair_in`, `impair_out`")
        .as(Form::table)
        .default_is("none"),
};

constexpr Option<LearningConfig> learning_table[] = {
    option::words<&LearningConfig::on, on_off_words>(
        "learn", Apply::reload,
        "`\"off\"`: the bridge learns no addresses behind this port, which is a bridged one"),
    option::integer<&LearningConfig::addresses_max>(
        "addresses_max", Apply::reload, {1, 1u << 20},
        "most addresses that the bridge learns behind this port, which is a bridged one; frames "
        "with others are dropped")
        .unset_is("unlimited"),
};

constexpr Option<QueueConfig> queue_table[] = {
    option::rate<&QueueConfig::rate_bps>(
        "rate", Apply::reload, {10'000, 1'000'000'000'000},
        "shapes what leaves, `\"200Mbit\"`, counting 24 bytes of line overhead per frame")
        .unset_is("unlimited"),
    option::size<&QueueConfig::capacity_bytes>(
        "queue", Apply::reload, queue_bytes,
        "capacity of the egress queue, at least one frame; the tail is dropped beyond it"),
    option::integer<&QueueConfig::ecn_threshold_packets>(
        "ecn_threshold", Apply::reload, {0, 1u << 20},
        "packets in the queue from which ECN-capable packets are marked; 0: never"),
};

constexpr Option<FlowControlConfig> flow_table[] = {
    option::words<&FlowControlConfig::mode, flow_words>(
        "flow_control", Apply::reload,
        "`\"pause\"`: IEEE 802.3x, `\"pfc\"`: by priority class (IEEE 802.1Qbb); the same at both "
        "ends of a cable"),
    option::parsed<&FlowControlConfig::lossless, parse_priorities>(
        "pfc_priorities", Apply::reload, "of 0 to 7",
        "with `\"pfc\"`: those that are not to lose a frame (DSCP / 8), `\"3,4\"`; the others are "
        "dropped where there is no room")
        .unset_is("all"),
    option::size<&FlowControlConfig::xoff_bytes>(
        "pause_xoff", Apply::reload, queue_bytes,
        "bytes that came in by this port and wait in the switch, above which its neighbour is "
        "asked for silence")
        .unset_is("automatic")
        .default_is("automatic: what leaves the headroom"),
    option::size<&FlowControlConfig::xon_bytes>(
        "pause_xon", Apply::reload, queue_bytes,
        "and from which on it may go on, below `pause_xoff`")
        .unset_is("automatic")
        .default_is("automatic: half of `pause_xoff`"),
    option::duration<&FlowControlConfig::reaction>(
        "pause_reaction", Apply::reload, {microseconds(1), milliseconds(100)},
        "from there until the neighbour has ceased to send"),
};

constexpr Option<ImpairmentConfig> impairment_table[] = {
    option::probability<&ImpairmentConfig::loss>("loss", Apply::reload,
                                                 "probability that a packet is lost"),
    option::probability<&ImpairmentConfig::duplicate>("duplicate", Apply::reload,
                                                      "that it comes twice"),
    option::probability<&ImpairmentConfig::corrupt>("corrupt", Apply::reload,
                                                    "that one of its bits is flipped"),
    option::probability<&ImpairmentConfig::reorder>(
        "reorder", Apply::reload,
        "that it is held back until `reorder_gap` later ones have passed"),
    option::integer<&ImpairmentConfig::reorder_gap>("reorder_gap", Apply::reload, {1, 64},
                                                    "how many have to pass"),
    option::duration<&ImpairmentConfig::delay>("delay", Apply::reload, delays,
                                               "every packet is late by this"),
    option::duration<&ImpairmentConfig::jitter>("jitter", Apply::reload, delays,
                                                "plus up to this, drawn for each"),
    option::integer<&ImpairmentConfig::seed>("seed", Apply::reload, seeds,
                                             "the same seed spoils the same packets"),
};

}  // namespace

constinit const Options<PortConfig> port_options = port_table;
constinit const Options<LearningConfig> learning_options = learning_table;
constinit const Options<QueueConfig> queue_options = queue_table;
constinit const Options<FlowControlConfig> flow_options = flow_table;
constinit const Options<ImpairmentConfig> impairment_options = impairment_table;

}  // namespace tributary::control
