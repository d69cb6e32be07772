# SPDX-License-Identifier: BSD-3-Clause
"""VLANs over a cable between two switches, tag by tag; and with Linux's VLAN devices and its bridge."""

import contextlib
import json
import pathlib
import subprocess
import sys
import threading
import unittest

import support

HERE = pathlib.Path(__file__).resolve().parent
FRAMES = HERE / "tagged_frames.py"
IP = "/usr/bin/ip"  # of guests: the shell takes busybox's own otherwise, which knows less
FULL = ("-s", "1472", "-M", "do")  # 1500 bytes of IP, which a tag makes no smaller
INTERFACE = "eth0"
MOVED = "switch.port[addresses_max].vlan"  # of a1, which alone has a bound


class Hearer:
    """What a host hears of the frames that tagged_frames.py sends."""

    def __init__(self, lab: support.Lab, host: str):
        self._child = subprocess.Popen(
            lab.command(host, sys.executable, FRAMES, "hear", INTERFACE), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        assert self._child.stdout.readline() == "ready\n"
        self.lines: list[str] = []
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        for line in self._child.stdout:
            self.lines.append(line.rstrip())

    def stop(self) -> None:
        self._child.terminate()
        self._child.wait()
        self._thread.join()
        self._child.stdout.close()


class Vlans(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab(str(HERE / "vlans" / "lab.toml"), name="vlans").__enter__()
        self.addCleanup(self.lab.__exit__)

    @contextlib.contextmanager
    def hearers(self):
        with contextlib.ExitStack() as stack:
            found = {}
            for host in ("a1", "a3", "b1", "a2", "b2", "t2"):
                found[host] = Hearer(self.lab, host)
                stack.callback(found[host].stop)
            yield found

    def send(self, host: str, mark: str, *tags: str) -> None:
        done = self.lab.exec(host, sys.executable, FRAMES, "send", INTERFACE, mark, *tags)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_tags_are_put_on_and_taken_off(self):
        # Who sends what, and who hears it with which tags.
        cases = (
            ("a1", (), {"a3": "", "a2": "", "t2": " 10"}),
            ("b1", (), {"b2": "", "t2": " 20"}),
            ("a1", ("5/0",), {"a3": "", "a2": "", "t2": " 5/10"}),
            ("t2", ("10",), {"a1": "", "a3": "", "a2": ""}),
            ("t2", ("3/20",), {"b1": "", "b2": ""}),
            ("t2", ("20", "10"), {}),
            ("a1", ("0", "20"), {"t2": " 10 20"}),
        )
        with self.hearers() as hearers:
            for number, (host, tags, heard) in enumerate(cases):
                self.send(host, f"m{number}", *tags)
                support.until(lambda: all(f"m{number}{text}" in hearers[other].lines
                                          for other, text in heard.items()),
                              what=f"that {heard} hear {host} {tags}")
            for number, tags in enumerate((("20",), ("10",), ("4095",))):
                self.send("a1", f"never{number}", *tags)
            for number, tags in enumerate(((), ("30",), ("0",))):
                self.send("t2", f"never{3 + number}", *tags)
            self.send("a1", "last")
            support.until(lambda: "last 10" in hearers["t2"].lines, what="the last frame")
            expected = {other: [f"m{number}{heard[other]}"
                                for number, (_, _, heard) in enumerate(cases) if other in heard]
                        for other in hearers}
            for other in ("a3", "a2"):
                expected[other].append("last")
                support.until(lambda: "last" in hearers[other].lines, what="the last frame")
            expected["t2"].append("last 10")
            self.assertEqual({other: hearer.lines for other, hearer in hearers.items()}, expected)
        drops = self.lab.drops()
        self.assertEqual(drops.get("vlan_not_allowed"), 4, drops)
        self.assertGreaterEqual(drops.get("vlan_untagged", 0), 2, drops)
        self.assertGreaterEqual(self.nested(), 3)
        self.lab.assert_balanced(self)

    def nested(self) -> int:
        return sum(row["packets_total"] for row in self.lab.rows("drops")
                   if row["reason"] == "vlan_nested")

    def test_hosts_reach_their_vlan_and_nobody_else(self):
        self.lab.await_path("a1", "10.0.10.2")
        self.lab.await_path("b1", "10.0.20.2")
        for host, address in (("a1", "10.0.10.2"), ("b2", "10.0.20.1"), ("a2", "10.0.10.3")):
            self.assertEqual(self.lab.ping(host, address, *FULL).returncode, 0, (host, address))
        for switch in ("10.0.10.251", "10.0.10.252"):
            for host in ("a1", "a2"):
                self.assertEqual(self.lab.ping(host, switch).returncode, 0, (host, switch))
        # A host of one VLAN with an address of the other: nobody hears what it asks.
        self.lab.exec("b1", "ip", "addr", "add", "10.0.10.9/24", "dev", INTERFACE)
        for address in ("10.0.10.1", "10.0.10.2", "10.0.10.251"):
            self.assertNotEqual(self.lab.ping("b1", address, "-W", "1").returncode, 0, address)
        self.stations_have_vlans()
        self.lab.assert_balanced(self)

    def stations_have_vlans(self) -> None:
        known = {(row["mac"], row["vlan"]): row["port"]
                 for row in self.lab.rows("fdb", daemon="far") if not row["static"]}
        for host, vlan, port in (("a1", 10, "near"), ("b1", 20, "near"), ("b2", 20, "b2")):
            link, = json.loads(self.lab.exec(host, "ip", "-j", "link", "show", INTERFACE).stdout)
            self.assertEqual(known.get((link["address"], vlan)), port, known)
        ports = {row["port"]: (row["vlan"], row["vlans"])
                 for row in self.lab.rows("port", daemon="far")}
        self.assertEqual(ports, {"near": (None, "10,20"), "a2": (10, None), "b2": (20, None),
                                 "t2": (None, "10,20")})

    def test_a_reload_moves_a_port(self):
        self.lab.await_path("a1", "10.0.10.2")
        self.lab.tool("reload", "--set", f"{MOVED}=20")
        self.assertNotEqual(self.lab.ping("a1", "10.0.10.2", "-W", "1").returncode, 0)
        self.lab.tool("reload", "--set", f"{MOVED}=10")
        self.lab.await_path("a1", "10.0.10.2")

    def test_switches_add_up_what_comes_with_tags(self):
        document = self.lab.reduce("-b", "64K", "-e", "64K", "-n", "5", "-d", "f32,i32",
                                   hosts="a1,a3,a2")
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        for daemon in ("near", "far"):
            contributions = sum(row["contributions_total"]
                                for row in self.lab.rows("job", daemon=daemon))
            self.assertGreater(contributions, 0, daemon)
        self.lab.assert_balanced(self)

    def test_other_vlans_are_added_up_by_hosts(self):
        document = self.lab.reduce("-b", "16K", "-e", "16K", "-n", "2", hosts="b1,b2")
        self.assertEqual(support.wrong(document), 0)
        self.assertEqual(self.lab.rows("job"), [])

    def test_a_vlan_device_of_this_kernel(self):
        made = self.lab.exec("t2", "ip", "link", "add", "link", INTERFACE, "name", "v10", "type",
                             "vlan", "id", "10")
        if made.returncode != 0:
            self.skipTest(f"this kernel has no VLAN devices: {made.stderr}")
        self.lab.exec("t2", "sh", "-ec", "ip addr add 10.0.10.5/24 dev v10; ip link set v10 up")
        for host in ("a1", "a2"):
            self.lab.await_path(host, "10.0.10.5")
            self.assertEqual(self.lab.ping(host, "10.0.10.5", *FULL).returncode, 0)


class WithoutVlans(unittest.TestCase):
    def test_a_bridge_takes_priority_tags_off_where_they_are_for_it_and_passes_others_on(self):
        lab = support.Lab("star-4").__enter__()
        self.addCleanup(lab.__exit__)
        done = lab.exec("h1", sys.executable, FRAMES, "ask", INTERFACE, "10.0.0.1", "10.0.0.254", "3/0")
        self.assertEqual(done.returncode, 0, done.stderr)
        hearer = Hearer(lab, "h2")
        self.addCleanup(hearer.stop)
        lab.exec("h1", sys.executable, FRAMES, "send", INTERFACE, "mark", "3/0")
        support.until(lambda: "mark 3/0" in hearer.lines, what="that h2 hears h1")
        lab.assert_balanced(self)


class Guest(unittest.TestCase):
    """Linux's own VLANs, those of Debian's kernel."""

    def setUp(self):
        self.lab = support.Lab(str(HERE / "vlans" / "guest.toml"), name="vlguest").__enter__()
        self.addCleanup(self.lab.__exit__)

    def do(self, *commands: str) -> None:
        for command in commands:
            done = self.lab.exec("g", "sh", "-c", command)
            self.assertEqual(done.returncode, 0, (command, done.stdout))

    def reached(self, last: int) -> None:
        for host, vlan in (("a", 10), ("b", 20)):
            address = f"10.0.{vlan}.{last}"
            self.lab.await_path(host, address)
            self.assertEqual(self.lab.ping(host, address, *FULL).returncode, 0, address)
        self.lab.exec("b", "ip", "addr", "replace", "10.0.10.9/24", "dev", INTERFACE)
        self.assertNotEqual(self.lab.ping("b", f"10.0.10.{last}", "-W", "1").returncode, 0)

    def test_vlan_devices_and_a_bridge_that_knows_vlans(self):
        self.do(*(f"ip link add link eth0 name v{vlan} type vlan id {vlan};"
                  f"ip addr add 10.0.{vlan}.3/24 dev v{vlan}; ip link set v{vlan} up"
                  for vlan in (10, 20)))
        self.reached(3)
        self.do(f"{IP} link del v10; {IP} link del v20; {IP} addr flush dev eth0",
                f"{IP} link add br0 type bridge vlan_filtering 1 vlan_default_pvid 0",
                f"{IP} link set eth0 master br0; {IP} link set br0 up",
                "bridge vlan add dev eth0 vid 10; bridge vlan add dev eth0 vid 20",
                # Its own address in one VLAN, a port without tags in the other one.
                "bridge vlan add dev br0 vid 10 self",
                f"{IP} link add link br0 name b10 type vlan id 10",
                f"{IP} addr add 10.0.10.4/24 dev b10; {IP} link set b10 up",
                f"{IP} link add p0 type veth peer name p1; {IP} link set p0 master br0",
                "bridge vlan add dev p0 vid 20 pvid untagged",
                f"{IP} link set p0 up; {IP} addr add 10.0.20.4/24 dev p1; {IP} link set p1 up")
        self.reached(4)
        self.lab.assert_balanced(self)


class Routed(unittest.TestCase):
    """A switch that routes between VLANs, and the VLAN devices of Debian's kernel."""

    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(
            support.Lab(str(HERE / "vlans" / "routed.toml"), name="vlrouted"))
        made = cls.lab.exec("g", "sh", "-ec", "".join(
            f"ip link add link eth0 name v{vlan} type vlan id {vlan};"
            f"ip addr add 10.0.{vlan}.3/24 dev v{vlan}; ip link set v{vlan} up;"
            for vlan in (10, 20)) + "ip route add 10.9.0.0/24 via 10.0.20.254")
        if made.returncode != 0:
            raise AssertionError(made.stdout)

    def test_hosts_reach_the_other_vlan_and_what_is_behind_the_router(self):
        for host, address in (("a", "10.0.20.1"), ("b", "10.0.10.2"), ("c", "10.0.20.1"),
                              ("b", "10.9.0.2"), ("c", "10.0.20.3"), ("a", "10.0.20.254"),
                              ("b", "10.0.20.254"), ("c", "10.0.20.254")):
            self.lab.await_path(host, address)
        answer = self.lab.ping("a", "10.0.20.1")
        self.assertIn("ttl=63", answer.stdout)
        # The port of VLAN 20 takes less: the sender is told, by the router's address in its VLAN.
        refused = self.lab.ping("a", "10.0.20.1", *FULL)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("10.0.10.254", refused.stdout + refused.stderr)
        self.assertEqual(self.lab.ping("a", "10.0.20.1", "-s", "1372", "-M", "do").returncode, 0)
        late = self.lab.ping("b", "10.9.0.2", "-t", "1", "-W", "1")
        self.assertIn("10.0.20.254", late.stdout, "the hop that says that time is over")
        interfaces = {row["interface"]: row for row in self.lab.rows("vlan")}
        self.assertEqual({name: (row["vlan"], row["address"]) for name, row in interfaces.items()},
                         {"vlan20": (20, "10.0.20.254/24"), "bridge": (10, "10.0.10.254/24")})
        for row in interfaces.values():
            self.assertGreater(row["rx_packets_total"], 0)
            self.assertGreater(row["tx_packets_total"], 0)
        near = {row["address"]: row["port"] for row in self.lab.rows("arp")}
        self.assertEqual((near["10.0.10.1"], near["10.0.20.1"], near["10.9.0.2"]),
                         ("bridge", "vlan20", "c"))
        self.lab.assert_balanced(self)

    def test_a_routed_port_takes_priority_tags_off(self):
        for tags in ((), ("3/0",)):
            done = self.lab.exec("c", sys.executable, FRAMES, "ask", INTERFACE, "10.9.0.2", "10.9.0.1", *tags)
            self.assertEqual(done.returncode, 0, (tags, done.stderr))

    def test_a_kernel_routes_through_the_switch_by_its_vlan_devices(self):
        self.lab.await_path("c", "10.0.20.3")
        self.lab.await_path("b", "10.0.20.3")
        self.lab.await_path("a", "10.0.10.3")
        self.lab.assert_no_ping_is_lost(self, "c", "10.0.20.3", 20)

    def test_a_reload_moves_an_interface_to_another_vlan(self):
        self.lab.await_path("a", "10.0.20.1")
        self.lab.tool("reload", "--set", "switch.vlan.address=10.0.21.254/24")
        self.assertNotEqual(self.lab.ping("a", "10.0.20.1", "-W", "1").returncode, 0)
        self.lab.exec("b", "ip", "addr", "replace", "10.0.21.1/24", "dev", INTERFACE)
        self.lab.exec("b", "ip", "route", "replace", "default", "via", "10.0.21.254")
        self.lab.await_path("a", "10.0.21.1")
        self.lab.tool("reload", "--set", "switch.vlan.address=10.0.20.254/24")
        self.lab.exec("b", "ip", "route", "replace", "default", "via", "10.0.20.254")
        self.lab.exec("b", "ip", "addr", "delete", "10.0.21.1/24", "dev", INTERFACE)
        self.lab.await_path("a", "10.0.20.1")

    def test_hosts_of_the_switchs_vlan_are_added_up(self):
        document = self.lab.reduce("-b", "64K", "-e", "64K", "-n", "5", hosts="a,a2")
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        self.lab.assert_balanced(self)


if __name__ == "__main__":
    support.main()
