# SPDX-License-Identifier: BSD-3-Clause
"""BFD over both versions of IP, and IPv6, with a router that others have written: FRRouting, where it is installed."""

import contextlib
import json
import pathlib
import shutil
import tempfile
import unittest

import support

FRR = pathlib.Path("/usr/lib/frr")
HERE = pathlib.Path(__file__).resolve().parent
TIMERS = """  receive-interval 50
  transmit-interval 200
  detect-multiplier 25
 !
"""
BFDD = f"""bfd
 peer 10.9.1.1 interface eth0
{TIMERS} peer 2001:db8:9::1 local-address 2001:db8:9::2 interface eth0
{TIMERS}!
"""
WATCHED = ("10.9.1.2", "2001:db8:9::2")
ENABLE_IPV6 = """for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 0 > $f; done;
for f in /proc/sys/net/ipv6/conf/*/accept_ra; do echo 0 > $f; done;"""
ZEBRA6 = """interface eth0
 ipv6 address 2001:db8:9::2/64
!
interface eth1
 ipv6 address 2001:db8:50::1/64
!
ipv6 forwarding
"""
STATICD6 = "ipv6 route 2001:db8:1::/64 2001:db8:9::1\n"


class FrrPeer(unittest.TestCase):
    """A lab in which the host called peer runs FRRouting."""

    LAB: str
    FILES: dict[str, str]  # configurations of its daemons

    def setUp(self):
        self.lab = support.Lab(str(HERE / self.LAB / "lab.toml"), name=self.LAB).__enter__()
        self.addCleanup(self.lab.__exit__)
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for program, text in self.FILES.items():
            (self.directory / f"{program}.conf").write_text(text)
        for path in (self.directory, *self.directory.iterdir()):
            shutil.chown(path, "frr", "frr")

    def frr(self, program: str):
        """A daemon of FRRouting in the peer's namespace, that touches nothing else of the host."""
        own = self.directory / program
        return self.lab.background(
            "peer", FRR / program, "-P", "0", "-f", f"{own}.conf", "-i", f"{own}.pid",
            "-z", self.directory / "zserv.api", "--vty_socket", self.directory)

    def shell(self, host: str, script: str) -> str:
        done = self.lab.exec(host, "sh", "-ec", script)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def await_zebra(self) -> None:
        support.until((self.directory / "zserv.api").exists, what="zebra")


class FrrBfd(FrrPeer):
    LAB = "bfd-peer"
    FILES = {"zebra": "", "bfdd": BFDD}

    def setUp(self):
        super().setUp()
        self.shell("peer", f"{ENABLE_IPV6} ip -6 addr add 2001:db8:9::2/64 dev eth0 nodad")

    def sessions(self) -> dict:
        return {row["neighbour"]: row for row in self.lab.rows("bfd")}

    def await_state(self, state: str) -> None:
        support.until(lambda: {neighbour: row["state"] for neighbour, row in self.sessions().items()} ==
                      dict.fromkeys(WATCHED, state), what=f"that both are {state}")

    def test_sessions_come_up_follow_its_timers_and_notice_its_death(self):
        with contextlib.ExitStack() as routers:
            routers.enter_context(self.frr("zebra"))
            self.await_zebra()
            with self.frr("bfdd"):
                self.await_state("up")
                support.until(lambda: all(row["detection_time_seconds"] == 5.0
                                          for row in self.sessions().values()),
                              what="that its timers hold: 25 times the slower of 200 ms and ours")
                for session in self.sessions().values():
                    self.assertEqual(session["remote_state"], "up")
                    self.assertEqual(session["transmit_interval_seconds"], 0.1)
                    self.assertEqual(session["failures_total"], 0)
            self.await_state("down")  # bfdd was killed
            self.assertEqual([row["alive"] for row in self.sessions().values()], [False, False])
            for kind in ("route", "route6"):
                self.assertEqual(self.hops_behind(kind), [False])
            with self.frr("bfdd"):
                self.await_state("up")
                self.assertEqual([row["alive"] for row in self.sessions().values()], [True, True])
                for kind in ("route", "route6"):
                    self.assertEqual(self.hops_behind(kind), [True])
            drops = self.lab.drops()
            self.assertEqual([reason for reason in drops if reason.startswith("bfd_malformed")], [])

    def hops_behind(self, kind: str) -> list[bool]:
        """Whether the next hops of routes are in use."""
        return [hop["up"] for row in self.lab.rows(kind) for hop in row["next_hops"] if not row["connected"]]


class FrrIpv6(FrrPeer):
    LAB = "frr6"
    FILES = {"zebra": ZEBRA6, "staticd": STATICD6}

    def setUp(self):
        super().setUp()
        for host in ("h1", "h2", "peer"):
            self.shell(host, ENABLE_IPV6)
        for host, network in (("h1", "2001:db8:1::"), ("h2", "2001:db8:50::")):
            self.shell(host, f"ip -6 addr add {network}9/64 dev eth0 nodad;"
                       f"ip -6 route add default via {network}1")

    def neighbours_of_peer(self) -> dict:
        shown = json.loads(self.shell("peer", "ip -j -6 neigh show dev eth0"))
        return {row["dst"]: row for row in shown}

    def peer_knows_a_router(self) -> bool:
        self.lab.ping("h1", "2001:db8:50::9")
        return "router" in self.neighbours_of_peer().get("2001:db8:9::1", {})

    def test_hosts_reach_each_other_by_both_routers(self):
        with self.frr("zebra"):
            self.await_zebra()
            with self.frr("staticd"):
                self.lab.await_path("h1", "2001:db8:50::9")
                self.lab.await_path("h2", "2001:db8:1::9")
                for host, other in (("h1", "2001:db8:50::9"), ("h2", "2001:db8:1::9")):
                    self.assertIn("ttl=62", self.lab.ping(host, other).stdout)
                    self.lab.assert_no_ping_is_lost(self, host, other, 20)
                second = self.lab.ping("h1", "2001:db8:50::9", "-t", "2").stdout
                self.assertIn("From 2001:db8:9::2", second)
                first = self.lab.ping("h2", "2001:db8:1::9", "-t", "2").stdout
                self.assertIn("From 2001:db8:9::1", first)
                self.assert_they_know_each_other()
        self.lab.assert_balanced(self)

    def assert_they_know_each_other(self) -> None:
        known = {row["address"]: row for row in self.lab.rows("neighbour6")}
        self.assertEqual((known["2001:db8:9::2"]["port"], known["2001:db8:9::2"]["state"]),
                         ("peer", "reachable"))
        switch = self.neighbours_of_peer()["2001:db8:9::1"]
        port, = (row["mac"] for row in self.lab.rows("port") if row["port"] == "peer")
        self.assertEqual(switch["lladdr"], port)
        # What the kernel has learned from a question does not say so; it asks when it has to confirm that.
        support.until(self.peer_knows_a_router, what="the switch to be known as a router")
        self.assertEqual([reason for reason in self.lab.drops() if reason.startswith(("nd_", "ip6_"))], [])


if __name__ == "__main__":
    support.require(*(str(FRR / program) for program in ("bfdd", "zebra", "staticd")))
    support.main()
