# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary switch first: other traffic while reductions run, and without them."""

import json
import time
import unittest

import support

BUSY = "l1h1,l2h1,l3h1,l4h1"
# No more datagrams in all than a socket keeps for a process that is late: nobody sends them again.
FEW_AT_ONCE = ("-b", "500K", "-t", "2")


def iperf(lab, client: str, server: str, address: str, *options: str) -> dict:
    with lab.background(server, "iperf3", "-s", "-1", "-B", address):
        support.until(lambda: ":5201" in lab.exec(server, "ss", "-ltn").stdout, what="the server")
        document = json.loads(lab.exec(client, "iperf3", "-c", address, "-J", *options).stdout)
    if "error" in document:
        raise AssertionError(f"iperf3: {document['error']}")
    return document["end"]


class WhileReducing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(support.Lab("fat-tree-8"))

    def during_reductions(self, talk):
        """Calls talk() while reductions run on other hosts; they must be exact."""
        for iterations in (60, 240, 960, 3840):
            before = self.sums_sent()
            bench = self.lab.bench("-b", "1M", "-e", "1M", "-n", iterations, "-w", "0", hosts=BUSY)
            support.until(lambda: self.sums_sent() > before + 100, what="a reduction")
            talk()
            long_enough = bench.running()
            self.assertEqual(support.wrong(bench.finish()), 0)
            if long_enough:
                break
        self.assertTrue(long_enough, "the reductions ended too early to prove anything")
        self.lab.assert_balanced(self)

    def sums_sent(self) -> int:
        return sum(row["originated_packets_total"] for row in self.lab.rows("counters"))

    def test_ping(self):
        def talk():
            self.lab.assert_no_ping_is_lost(self, "l1h2", "10.4.2.2", 20)
        self.during_reductions(talk)

    def test_iperf_tcp(self):
        def talk():
            end = iperf(self.lab, "l2h2", "l3h2", "10.3.2.2", "-n", "4M")
            self.assertGreaterEqual(end["sum_sent"]["bytes"], 4 << 20)
        self.during_reductions(talk)

    def test_iperf_udp(self):
        def talk():
            end = iperf(self.lab, "l2h2", "l3h2", "10.3.2.2", "-u", *FEW_AT_ONCE)
            self.assertLess(end["sum"]["lost_percent"], 5)
        self.during_reductions(talk)


class Routing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("fat-tree-8").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def ping(self, host: str, *arguments: str):
        return self.lab.ping(host, *arguments)

    def test_every_host_reaches_every_other(self):
        for host in self.lab.state["hosts"]:
            for name, address in self.lab.state["hosts"].items():
                done = self.ping(host, address)
                self.assertEqual(done.returncode, 0, f"{host} to {name}: {done.stdout}")

    def test_the_path_shows_in_the_ttl(self):
        self.assertIn("ttl=61", self.ping("l1h1", "10.4.1.2").stdout)  # leaf, spine, leaf
        self.assertIn("ttl=63", self.ping("l1h1", "10.1.2.2").stdout)

    def test_time_exceeded_names_every_hop(self):
        self.assertRegex(self.ping("l1h1", "10.4.1.2", "-t", "1").stdout,
                         r"From 10\.1\.\S+ .*Time to live exceeded")
        self.assertRegex(self.ping("l1h1", "10.4.1.2", "-t", "2").stdout,
                         r"From 10\.10[12]\.\S+ .*Time to live exceeded")

    def test_switches_answer_ping(self):
        for address in ("10.1.1.1", "10.1.255.1", "10.4.255.1", "10.101.255.1", "10.102.255.1"):
            self.assertEqual(self.ping("l1h1", address).returncode, 0, address)

    def test_shaping_limits_tcp(self):
        end = iperf(self.lab, "l1h1", "l4h1", "10.4.1.2", "-t", "2")
        rate = end["sum_received"]["bits_per_second"]
        self.assertLess(rate, 200e6)
        self.assertGreater(rate, 0)

    def test_large_pings_pass(self):
        self.assertEqual(self.ping("l1h1", "10.4.1.2", "-M", "do", "-s", "1472").returncode, 0)

    def test_fragments_pass_as_they_are(self):
        for size in (1600, 4000, 20000):
            done = self.ping("l1h1", "10.4.1.2", "-s", size)
            self.assertEqual(done.returncode, 0, f"{size} bytes: {done.stdout}")


class Bridging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def test_every_host_reaches_every_other(self):
        for host in self.lab.state["hosts"]:
            for address in (*self.lab.state["hosts"].values(), "10.0.0.254"):
                done = self.lab.ping(host, address)
                self.assertEqual(done.returncode, 0, f"{host} to {address}: {done.stdout}")

    def test_fragments_pass_as_they_are(self):
        for size in (1600, 4000, 20000):
            done = self.lab.ping("h1", "10.0.0.2", "-s", size)
            self.assertEqual(done.returncode, 0, f"{size} bytes: {done.stdout}")

    def test_a_quiet_switch_rests_and_is_woken_by_a_frame(self):
        def sleeps() -> int:
            return sum(core["sleeps_total"] for core in self.lab.ctl_json("status")["cores"])

        # Hosts announce themselves now and then, and each question wakes the core.
        quietest = []
        for _ in range(5):
            before, began = sleeps(), time.monotonic()
            time.sleep(1)
            quietest.append((sleeps() - before) / (time.monotonic() - began))
        self.assertLess(min(quietest), 300, "as a core that looks each millisecond does not")
        self.lab.assert_no_ping_is_lost(self, "h1", "10.0.0.2", 10)

    def test_learned_addresses_are_listed(self):
        self.lab.ping("h1", "10.0.0.2")
        self.assertLessEqual({"h1", "h2"}, {row["port"] for row in self.lab.rows("fdb")})

    def test_unicast_stays_between_its_hosts(self):
        self.lab.ping("h1", "10.0.0.2")
        before = self.sent_by_port()
        self.lab.ping("h1", "10.0.0.2", "-c", "50", "-i", "0.01")
        support.until(lambda: self.sent_by_port()["h2"] - before["h2"] >= 50, what="the last ping")
        after = self.sent_by_port()
        self.assertLess(after["h3"] - before["h3"], 10)

    def sent_by_port(self) -> dict:
        return {row["port"]: row["counters"]["tx_packets_total"] for row in self.lab.rows("port")}

    def test_iperf_tcp_and_udp(self):
        end = iperf(self.lab, "h1", "h2", "10.0.0.2", "-n", "16M")
        self.assertGreaterEqual(end["sum_sent"]["bytes"], 16 << 20)
        end = iperf(self.lab, "h3", "h4", "10.0.0.4", "-u", *FEW_AT_ONCE)
        self.assertLess(end["sum"]["lost_percent"], 5)


if __name__ == "__main__":
    support.main()
