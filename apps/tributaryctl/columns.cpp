// SPDX-License-Identifier: BSD-3-Clause
#include "columns.h"

namespace tributary::ctl {
namespace {

constexpr Column switch_columns[] = {
    {"SWITCH", "/switch"},
    {"ID", "/id", Show::plain, true},
    {"ADDRESS", "/address"},
    {"PORTS", "/ports", Show::plain, true},
    {"ROUTES", "/routes", Show::plain, true},
    {"FDB", "/fdb_entries", Show::plain, true},
    {"ARP", "/arp_entries", Show::plain, true},
    {"ROUTES6", "/routes6", Show::plain, true},
    {"NEIGHBOURS6", "/neighbours6", Show::plain, true},
    {"RECEIVED", "/ledger/received_packets_total", Show::plain, true},
    {"DROPPED", "/ledger/dropped_packets_total", Show::plain, true},
    {"ENGINES", "/engines", Show::list},
};
constexpr Column port_columns[] = {
    {"SWITCH", "/switch"},
    {"PORT", "/port"},
    {"STATE", "/up", Show::state},
    {"ADDRESS", "/address"},
    {"ADDRESS6", "/address6"},
    {"ADVERTISED6", "/advertise6/advertisements_total", Show::plain, true},
    {"VLAN", "/vlan", Show::plain, true},
    {"VLANS", "/vlans"},
    {"TRUST", "/trust"},
    {"MTU", "/mtu_bytes", Show::plain, true},
    {"RATE", "/rate_bits_per_second", Show::rate, true},
    {"RX-PACKETS", "/counters/rx_packets_total", Show::plain, true},
    {"TX-PACKETS", "/counters/tx_packets_total", Show::plain, true},
    {"DROPPED", "/dropped_packets_total", Show::plain, true},
    {"TAIL-DROPS", "/counters/queue_tail_dropped_packets_total", Show::plain, true},
    {"ECN-MARKS", "/counters/queue_ecn_marked_packets_total", Show::plain, true},
    {"QUEUED", "/queue_bytes", Show::bytes, true},
    {"CHARGED", "/charged_bytes", Show::bytes, true},
    {"XOFF", "/thresholds/xoff_bytes", Show::known_bytes, true},
    {"XON", "/thresholds/xon_bytes", Show::known_bytes, true},
    {"HEADROOM", "/thresholds/headroom_bytes", Show::known_bytes, true},
    {"PRIORITIES", "/thresholds/pfc_priorities", Show::list},
    {"ADDRESSES", "/addresses", Show::plain, true},
    {"REFUSED", "/addresses_refused_packets_total", Show::plain, true},
    {"PAUSES-RX", "/counters/rx_pause_packets_total", Show::plain, true},
    {"PAUSES-TX", "/counters/tx_pause_packets_total", Show::plain, true},
    {"PAUSED", "/counters/paused_seconds_total", Show::age, true},
    {"CPU", "/cpu", Show::plain, true},
    {"DEVICE", "/device"},
};
constexpr Column class_columns[] = {
    {"SWITCH", "/switch"},
    {"PORT", "/port"},
    {"CLASS", "/class"},
    {"DSCP", "/dscp", Show::list},
    {"PCP", "/pcp", Show::list},
    {"SERVICE", "/service"},
    {"WEIGHT", "/weight", Show::plain, true},
    {"ECN-THRESHOLD", "/ecn_threshold_packets", Show::plain, true},
    {"PRIORITY", "/pfc_priority", Show::plain, true},
    {"CAPACITY", "/queue_capacity_bytes", Show::bytes, true},
    {"TX-PACKETS", "/tx_packets_total", Show::plain, true},
    {"TX-BYTES", "/tx_bytes_total", Show::plain, true},
    {"TAIL-DROPS", "/queue_tail_dropped_packets_total", Show::plain, true},
    {"ECN-MARKS", "/queue_ecn_marked_packets_total", Show::plain, true},
    {"QUEUED", "/queue_bytes", Show::bytes, true},
};
constexpr Column route_columns[] = {
    {"SWITCH", "/switch"},
    {"PREFIX", "/prefix"},
    {"CONNECTED", "/connected", Show::flag},
    {"NEXT-HOPS", "/next_hops", Show::hops},
    {"ORDINARY", "/selection/ordinary"},
    {"REDUCTION", "/selection/reduction"},
    {"EVADED", "/selection/evaded_packets_total", Show::plain, true},
    {"FLOWLETS", "/selection/flowlets_total", Show::plain, true},
    {"MOVED", "/selection/flowlets_moved_total", Show::plain, true},
};
constexpr Column bfd_columns[] = {
    {"SWITCH", "/switch"},
    {"NEIGHBOUR", "/neighbour"},
    {"PORT", "/port"},
    {"IN-USE", "/alive", Show::flag},
    {"STATE", "/state"},
    {"REMOTE", "/remote_state"},
    {"INTERVAL", "/transmit_interval_seconds", Show::age, true},
    {"DETECTION", "/detection_time_seconds", Show::age, true},
    {"RECEIVED", "/received_packets_total", Show::plain, true},
    {"SENT", "/sent_packets_total", Show::plain, true},
    {"FAILURES", "/failures_total", Show::plain, true},
};
constexpr Column fdb_columns[] = {
    {"SWITCH", "/switch"},
    {"VLAN", "/vlan", Show::plain, true},
    {"MAC", "/mac"},
    {"PORT", "/port"},
    {"STATIC", "/static", Show::flag},
    {"AGE", "/age_seconds", Show::age, true},
};
constexpr Column vlan_columns[] = {
    {"SWITCH", "/switch"},
    {"VLAN", "/vlan", Show::plain, true},
    {"INTERFACE", "/interface"},
    {"ADDRESS", "/address"},
    {"ADDRESS6", "/address6"},
    {"ADVERTISED6", "/advertise6/advertisements_total", Show::plain, true},
    {"RX-PACKETS", "/rx_packets_total", Show::plain, true},
    {"RX-BYTES", "/rx_bytes_total", Show::plain, true},
    {"TX-PACKETS", "/tx_packets_total", Show::plain, true},
    {"TX-BYTES", "/tx_bytes_total", Show::plain, true},
};
constexpr Column neighbour_columns[] = {
    {"SWITCH", "/switch"}, {"ADDRESS", "/address"}, {"MAC", "/mac"},
    {"PORT", "/port"},     {"STATE", "/state"},     {"AGE", "/age_seconds", Show::age, true},
};
constexpr Column engine_table[] = {
    {"SWITCH", "/switch"},
    {"ENGINE", "/engine"},
    {"FIGURE", "/figure"},
    {"VALUE", "/value", Show::plain, true},
};
constexpr Column job_columns[] = {
    {"SWITCH", "/switch"},
    {"ENGINE", "/engine"},
    {"JOB", "/job", Show::plain, true},
    {"CONTRIBUTIONS", "/contributions_total", Show::plain, true},
    {"RESULTS", "/results_total", Show::plain, true},
    {"BYPASSED", "/bypassed_total", Show::plain, true},
    {"DESCRIPTORS", "/descriptors", Show::plain, true},
    {"HIGH-WATER", "/descriptors_high_water", Show::plain, true},
    {"TIMEOUT", "/timeout_seconds", Show::age, true},
};
constexpr Column descriptor_columns[] = {
    {"SWITCH", "/switch"},
    {"JOB", "/job", Show::plain, true},
    {"BLOCK", "/id", Show::plain, true},
    {"SPARSE", "/sparse", Show::flag},
    {"COUNTER", "/counter", Show::plain, true},
    {"HOSTS", "/hosts", Show::plain, true},
    {"SENT", "/sent", Show::flag},
    {"AGE", "/age_seconds", Show::age, true},
    {"LEADER", "/leader"},
    {"CHILDREN-PORTS", "/children_ports", Show::list},
};
constexpr Column stalled_table[] = {
    {"SWITCH", "/switch"},
    {"JOB", "/job", Show::plain, true},
    {"BLOCK", "/block", Show::plain, true},
    {"SPARSE", "/sparse", Show::flag},
    {"ATTEMPT", "/attempt", Show::plain, true},
    {"LEADER", "/leader"},
    {"WAITING", "/waiting_seconds", Show::age, true},
    {"CONTRIBUTIONS", "/contributions", Show::plain, true},
    {"HOSTS", "/hosts", Show::plain, true},
    {"MISSING-RANKS", "/missing_ranks", Show::known_list},
    {"MISSING-PORTS", "/missing_ports", Show::known_list},
};
constexpr Column drop_table[] = {
    {"SCOPE", "/scope"},
    {"WHERE", "/where"},
    {"REASON", "/reason"},
    {"PACKETS", "/packets_total", Show::plain, true},
};
constexpr Column counter_table[] = {
    {"SWITCH", "/switch"},
    {"RECEIVED", "/received_packets_total", Show::plain, true},
    {"FORWARDED", "/forwarded_packets_total", Show::plain, true},
    {"ABSORBED", "/absorbed_packets_total", Show::plain, true},
    {"DROPPED", "/dropped_packets_total", Show::plain, true},
    {"ORIGINATED", "/originated_packets_total", Show::plain, true},
    {"SENT", "/sent_packets_total", Show::plain, true},
    {"LOST", "/lost_packets_total", Show::plain, true},
    {"BALANCED", "/balanced", Show::flag},
};

constexpr Column tree_columns[] = {
    {"SWITCH", "/switch"},
    {"ENGINE", "/engine"},
    {"JOB", "/job", Show::plain, true},
    {"TREE", "/tree", Show::plain, true},
    {"GROUP", "/group"},
    {"CHILDREN", "/children", Show::list},
    {"PARENT", "/parent", Show::parent},
    {"WORKERS-BELOW", "/workers_below", Show::plain, true},
    {"WORKERS", "/workers", Show::plain, true},
    {"QUORUM", "/quorum", Show::plain, true},
    {"ORIGIN", "/origin"},
    {"ACTIVE", "/state/active", Show::flag},
    {"IDLE", "/state/idle_seconds", Show::age, true},
    {"CAP", "/state/wnd_cap_packets", Show::plain, true},
    {"GRANTED", "/state/granted_packets", Show::plain, true},
    {"HELD", "/state/held_packets", Show::plain, true},
    {"RESULTS", "/state/results_total", Show::plain, true},
    {"OVER-CAP", "/state/over_cap_total", Show::plain, true},
};
constexpr Column core_table[] = {
    {"CPU", "/cpu", Show::plain, true},
    {"LOOPS", "/loops_total", Show::plain, true},
    {"BUSY", "/busy_loops_total", Show::plain, true},
    {"SLEEPS", "/sleeps_total", Show::plain, true},
    {"HANDED-OVER", "/handed_over_packets_total", Show::plain, true},
    {"HANDOVER-FULL", "/handover_full_packets_total", Show::plain, true},
};
constexpr Column handler_table[] = {
    {"NUMBER", "/number", Show::plain, true},
    {"KIND", "/kind"},
    {"TYPE", "/type"},
    {"MARK", "/mark"},
    {"ORIGIN", "/origin"},
    {"CLOSED", "/closed", Show::flag},
    {"TOO-SLOW", "/too_slow", Show::flag},
    {"NS-PER-KIB", "/ns_per_kib", Show::plain, true},
    {"NAME", "/name"},
};

constexpr ListCommand commands[] = {
    {"switch", "Logical switches", "switch.list", switch_columns},
    {"class", "Traffic classes of the ports", "class.list", class_columns},
    {"route", "Routes and their next hops", "route.list", route_columns},
    {"bfd", "BFD sessions with next hops", "bfd.list", bfd_columns},
    {"fdb", "Stations that the bridges know", "fdb.list", fdb_columns},
    {"vlan", "Interfaces of the router on the bridges", "vlan.list", vlan_columns},
    {"arp", "Neighbours by IPv4", "arp.list", neighbour_columns},
    {"route6", "Routes of IPv6 and their next hops", "route6.list", route_columns},
    {"neighbour6", "Neighbours by IPv6", "neighbour6.list", neighbour_columns},
    {"job", "Jobs that the engines have seen", "job.list", job_columns},
    {"descriptor", "Blocks that are held now", "descriptor.list", descriptor_columns},
    {"tree", "Aggregation trees, who installed them, and how they stand", "tree.list",
     tree_columns},
    {"port", "Ports and their counters", "port.list", port_columns},
};

}  // namespace

const std::span<const ListCommand> list_commands = commands;
const std::span<const Column> engine_columns = engine_table;
const std::span<const Column> stalled_columns = stalled_table;
const std::span<const Column> drop_columns = drop_table;
const std::span<const Column> counter_columns = counter_table;
const std::span<const Column> core_columns = core_table;
const std::span<const Column> handler_columns = handler_table;

}  // namespace tributary::ctl
