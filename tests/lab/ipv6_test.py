# SPDX-License-Identifier: BSD-3-Clause
"""IPv6 that is routed over two switches, between hosts with the kernel's own."""

import json
import os
import pathlib
import signal
import unittest

import support

HERE = pathlib.Path(__file__).resolve().parent
INTERFACE = "eth0"
HOSTS = {"a": "2001:db8:1::", "b": "2001:db8:2::", "c": "2001:db8:3::"}
NEAR, FAR = "near", "far"


class Ipv6(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab(str(HERE / "ipv6" / "lab.toml"), name="ipv6").__enter__()
        self.addCleanup(self.lab.__exit__)
        for host, network in HOSTS.items():
            made = self.lab.exec(host, "sh", "-ec", "".join((
                f"for f in all {INTERFACE}; do echo 0 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done;",
                f"echo 0 > /proc/sys/net/ipv6/conf/{INTERFACE}/accept_ra;",
                f"ip -6 addr add {network}9/64 dev {INTERFACE} nodad;",
                f"ip -6 route add default via {network}1")))
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)

    def link_local(self, host: str) -> str:
        shown, = json.loads(self.lab.exec(host, "ip", "-j", "-6", "addr", "show", "dev", INTERFACE,
                                          "scope", "link").stdout)
        return next(entry["local"] for entry in shown["addr_info"] if "local" in entry)

    def begin_anew(self, host: str) -> None:
        """The host's kernel finds its way by itself, as when it was just plugged in."""
        made = self.lab.exec(host, "sh", "-ec", "".join((
            f"ip link set dev {INTERFACE} down;",
            f"for f in all {INTERFACE}; do echo 0 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done;",
            f"echo 1 > /proc/sys/net/ipv6/conf/{INTERFACE}/accept_ra;",
            f"ip link set dev {INTERFACE} up")))
        self.assertEqual(made.returncode, 0, made.stdout + made.stderr)

    def own_addresses(self, host: str) -> list[str]:
        """Those that it made of a prefix, and may use."""
        shown = json.loads(self.lab.exec(host, "ip", "-j", "-6", "addr", "show", "dev", INTERFACE,
                                         "scope", "global").stdout)
        return [entry["local"] for link in shown for entry in link.get("addr_info", ())
                if entry.get("dynamic") and not entry.get("tentative")]

    def default_routes(self, host: str) -> list[str]:
        """The routers that it was told of."""
        shown = self.lab.exec(host, "ip", "-j", "-6", "route", "show", "default").stdout
        return [route["gateway"] for route in json.loads(shown or "[]") if route["protocol"] == "ra"]

    def mtu(self, host: str) -> int:
        return int(self.lab.exec(host, "cat", f"/proc/sys/net/ipv6/conf/{INTERFACE}/mtu").stdout)

    def dropped(self, daemon: str) -> dict[str, int]:
        """By the port that it came in by."""
        return {row["port"]: row["dropped_packets_total"]
                for row in self.lab.rows("port", daemon=daemon)}

    def neighbours(self, daemon: str) -> dict:
        return {row["address"]: (row["port"], row["state"])
                for row in self.lab.rows("neighbour6", daemon=daemon)}

    def test_hosts_reach_each_other_and_the_switches(self):
        for host, address in (("a", "2001:db8:1::1"), ("a", "2001:db8:f1::2"),
                              ("a", "2001:db8:2::1"), ("a", "2001:db8:2::9"),
                              ("b", "2001:db8:3::9"), ("c", "2001:db8:1::9"),
                              ("c", "2001:db8:3::1")):
            self.lab.await_path(host, address)
        self.assertIn("ttl=62", self.lab.ping("a", "2001:db8:3::9").stdout)
        self.lab.assert_no_ping_is_lost(self, "a", "2001:db8:2::9", 20)
        near = self.neighbours(NEAR)
        self.assertEqual(near["2001:db8:1::9"], ("a", "reachable"))
        self.assertEqual(near["2001:db8:f1::2"], ("far1", "reachable"))
        self.assertEqual(self.neighbours(FAR)["2001:db8:3::9"], ("vlan20", "reachable"))
        routes = {row["prefix"]: [(hop["address"], hop["port"], hop["up"]) for hop in row["next_hops"]]
                  for row in self.lab.rows("route6", daemon=FAR)}
        self.assertEqual(routes["2001:db8:1::/64"], [("2001:db8:f1::1", "near1", True),
                                                     ("2001:db8:f2::1", "near2", True)])
        self.assertEqual(routes["2001:db8:3::/64"], [(None, "vlan20", True)])
        ports = {row["port"]: row["address6"] for row in self.lab.rows("port", daemon=FAR)}
        self.assertEqual(ports["b"], "2001:db8:2::1/64")
        self.lab.assert_balanced(self)

    def test_link_local_addresses_are_answered(self):
        switch, = (row["mac"] for row in self.lab.rows("port", daemon=NEAR) if row["port"] == "a")
        octets = [int(octet, 16) for octet in switch.split(":")]
        octets[0] ^= 2
        halves = octets[:3] + [0xff, 0xfe] + octets[3:]
        words = [f"{halves[i]:02x}{halves[i + 1]:02x}" for i in range(0, 8, 2)]
        own = f"fe80::{':'.join(words)}%{INTERFACE}"

        def are_both_known() -> bool:
            answered = self.lab.ping("a", own).returncode == 0
            return answered and self.neighbours(NEAR).get(self.link_local("a")) == ("a", "reachable")
        # As long as the kernel looks for duplicates of its own, it does not send from it.
        support.until(are_both_known, what="that both ends of the link know each other")

    def test_hosts_take_addresses_routes_and_mtu_from_the_switches(self):
        for host in ("c", "d"):  # in a VLAN, and at a port
            self.begin_anew(host)
        own = {}
        for host, prefix in (("c", "2001:db8:3:"), ("d", "2001:db8:4:")):
            support.until(lambda host=host: self.own_addresses(host) and self.default_routes(host),
                          what=f"that {host} has an address and a router")
            own[host], = self.own_addresses(host)
            self.assertTrue(own[host].startswith(prefix), own)
            router, = self.default_routes(host)
            self.assertTrue(router.startswith("fe80::"), router)
        self.assertEqual((self.mtu("c"), self.mtu("d")), (1500, 1420))
        for host, address in (("d", own["c"]), ("d", "2001:db8:1::9"), ("b", own["d"])):
            self.lab.await_path(host, address)
        ports = {row["port"]: row["advertise6"] for row in self.lab.rows("port", daemon=NEAR)}
        self.assertIsNone(ports["a"])
        self.assertGreaterEqual(ports["d"]["advertisements_total"], 1)
        self.assertGreaterEqual(ports["d"]["solicitations_total"], 1)
        vlan, = self.lab.rows("vlan", daemon=FAR)
        self.assertGreaterEqual(vlan["advertise6"]["solicitations_total"], 1)
        self.lab.assert_balanced(self)

    def test_hosts_lose_the_router_and_keep_the_address_when_a_switch_ends(self):
        def has_router() -> bool:
            return bool(self.default_routes("d"))

        def has_none() -> bool:
            return not has_router()

        self.begin_anew("d")
        support.until(lambda: self.own_addresses("d"), what="that d has an address")
        before = self.own_addresses("d")
        advertised = "switch.port[advertise6].advertise6"
        self.lab.tool("reload", "--set", f"{advertised}=off")
        support.until(has_none, what="that d has no router after a reload")
        self.lab.tool("reload", "--set", f"{advertised}=on")
        support.until(has_router, what="that d has a router again")
        daemon, = (each["pid"] for each in self.lab.state["processes"] if each["role"] == NEAR)
        os.kill(daemon, signal.SIGTERM)
        support.until(has_none, what="that d has no router when the daemon has ended")
        self.assertEqual(self.own_addresses("d"), before)

    def test_every_hop_says_that_it_was_the_last(self):
        self.lab.await_path("a", "2001:db8:2::9")
        self.assertIn("2001:db8:1::1", self.lab.ping("a", "2001:db8:2::9", "-t", "1").stdout)
        second = self.lab.ping("a", "2001:db8:2::9", "-t", "2").stdout
        self.assertRegex(second, r"From 2001:db8:f[12]::2")
        self.assertIn("Time exceeded", second)
        self.assertEqual(self.lab.drops().get("hop_limit_exceeded"), 2)

    def test_who_goes_nowhere_is_told(self):
        self.lab.await_path("a", "2001:db8:2::9")
        self.assertIn("No route", self.lab.ping("b", "2001:db8:77::1").stdout)
        self.assertEqual(self.lab.drops().get("ip6_no_route"), 1)
        self.assertGreaterEqual(self.dropped(FAR)["b"], 1, "it came in by this port")

        def are_all_of_a_port() -> bool:
            counted, = self.lab.rows("counters", daemon=FAR)
            return sum(self.dropped(FAR).values()) == counted["dropped_packets_total"]
        # Of one moment.
        support.until(are_all_of_a_port, what="that each drop is counted at a port")
        silent = self.lab.ping("a", "2001:db8:3::77", "-W", "2")
        self.assertNotEqual(silent.returncode, 0)
        support.until(lambda: any(row["reason"] == "nd_unresolved" and row["packets_total"] > 0
                                  for row in self.lab.rows("drops", daemon=FAR)),
                      what="that the neighbour is given up")

    def test_tcp_learns_the_mtu_and_flows_take_both_ways(self):
        support.require("iperf3")
        self.lab.await_path("a", "2001:db8:2::9")
        with self.lab.background("b", "iperf3", "-6", "-s", "-1"):
            support.until(lambda: ":5201" in self.lab.exec("b", "ss", "-6", "-l", "-t", "-n").stdout,
                          what="iperf3's server")
            done = self.lab.exec("a", "iperf3", "-6", "-c", "2001:db8:2::9", "-P", "16", "-n", "4M", "-J")
        self.assertEqual(done.returncode, 0, done.stdout)
        sent = json.loads(done.stdout)["end"]["sum_sent"]["bytes"]
        self.assertGreaterEqual(sent, 4 << 20)
        # iperf3's results of so many flows are longer than a packet, so b learns it, too.
        for host, other in (("a", "b"), ("b", "a")):
            route = self.lab.exec(host, "ip", "-6", "route", "get", HOSTS[other] + "9").stdout
            self.assertIn("mtu 1400", route)
        self.assertGreater(self.lab.drops().get("packet_too_big", 0), 0)
        ports = {row["port"]: row["counters"] for row in self.lab.rows("port", daemon=NEAR)}
        for port in ("far1", "far2"):
            self.assertGreater(ports[port]["tx_packets_total"], 100, port)
        self.lab.assert_balanced(self)

    def remembered(self, host: str, address: str) -> tuple[str, str]:
        """Which link-layer address a host takes an address for, and why."""
        entry, = json.loads(self.lab.exec(host, "ip", "-j", "neigh", "show", address).stdout)
        return entry["lladdr"], entry["state"][0]

    def test_hosts_of_a_replaced_switch_are_told_its_address(self):
        # By a port, and in a VLAN.
        cases = ((NEAR, "a", "10.1.1.1", "2001:db8:1::1"), (FAR, "c", "10.1.3.1", "2001:db8:3::1"))
        for number, (switch, host, *addresses) in enumerate(cases):
            for address in addresses:
                self.lab.await_path(host, address)
            self.lab.tool("kill", switch)
            before = {address: self.remembered(host, address)[0] for address in addresses}
            new = f"02:00:5e:00:53:{number:02x}"
            self.assertNotIn(new, before.values())
            # The host knows what it knows: who asks nothing is still to be told.
            for address in addresses:
                self.lab.exec(host, "ip", "neigh", "replace", address, "lladdr", before[address],
                              "nud", "stale", "dev", INTERFACE)
            self.lab.exec(switch, "ip", "link", "set", "dev", host, "address", new)
            self.lab.tool("restart", switch)
            for address in addresses:
                support.until(lambda: self.remembered(host, address)[0] == new,
                              what=f"that {host} is told where {address} is now")
                # One that was asked would be taken for reachable.
                self.assertEqual(self.remembered(host, address), (new, "STALE"))
                self.assertEqual(self.lab.ping(host, address).returncode, 0, address)
        self.lab.assert_balanced(self)

    def test_a_cable_may_fail(self):
        self.lab.await_path("a", "2001:db8:2::9")
        self.lab.ctl("port", "down", "near", "far1", daemon=NEAR)
        self.lab.ctl("port", "down", "far", "near1", daemon=FAR)
        self.lab.await_path("a", "2001:db8:2::9")
        self.lab.assert_no_ping_is_lost(self, "a", "2001:db8:2::9", 10)

    def sessions(self, daemon: str) -> dict:
        return {row["neighbour"]: row for row in self.lab.rows("bfd", daemon=daemon)}

    def await_sessions(self) -> None:
        for daemon in (NEAR, FAR):
            support.until(lambda daemon=daemon: all(row["state"] == "up" for row in self.sessions(daemon).values()),
                          what=f"that the sessions of {daemon} are up")

    def hops_of_default(self) -> dict:
        route, = (row for row in self.lab.rows("route6", daemon=NEAR) if row["prefix"] == "::/0")
        return {hop["address"]: hop["up"] for hop in route["next_hops"]}

    def test_a_next_hop_that_falls_silent_is_left_and_taken_again(self):
        first, second = "2001:db8:f1::2", "2001:db8:f2::2"
        self.await_sessions()
        before = self.sessions(NEAR)[first]["failures_total"]
        self.assertEqual({neighbour: row["port"] for neighbour, row in self.sessions(NEAR).items()},
                         {first: "far1", second: "far2"})
        self.lab.await_path("a", "2001:db8:2::9")
        self.lab.ctl("port", "down", "far", "near1", daemon=FAR)
        support.until(lambda: not self.sessions(NEAR)[first]["alive"], what="that it is noticed")
        ports = {row["port"]: row["up"] for row in self.lab.rows("port", daemon=NEAR)}
        self.assertTrue(ports["far1"], "the link is up")
        self.assertEqual(self.hops_of_default(), {first: False, second: True})
        # Whatever the flow: the hash of ping's differs by destination.
        for destination in ("2001:db8:2::9", "2001:db8:2::1", "2001:db8:3::1", "2001:db8:3::9"):
            self.lab.await_path("a", destination)
            self.lab.assert_no_ping_is_lost(self, "a", destination, 5)
        self.lab.ctl("port", "up", "far", "near1", daemon=FAR)
        self.await_sessions()
        self.assertEqual(self.hops_of_default(), {first: True, second: True})
        self.assertGreater(self.sessions(NEAR)[first]["failures_total"], before)
        self.assertEqual([reason for reason in self.lab.drops() if reason.startswith("bfd_")], [])
        self.lab.assert_balanced(self)

    def test_a_reload_changes_the_interval_of_sessions_without_alarm(self):
        def failures() -> list[int]:
            return [row["failures_total"] for daemon in (NEAR, FAR) for row in self.sessions(daemon).values()]

        self.await_sessions()
        before = failures()
        self.lab.tool("reload", "--set", "switch.bfd.interval=200ms")
        support.until(lambda: self.sessions(NEAR)["2001:db8:f1::2"]["detection_time_seconds"] == 10.0,
                      what="that both ends have the new interval")
        self.await_sessions()
        self.assertEqual(failures(), before)


if __name__ == "__main__":
    support.main()
