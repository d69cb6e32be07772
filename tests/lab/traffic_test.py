# SPDX-License-Identifier: BSD-3-Clause
"""An ordinary switch first: other traffic while reductions run, and without them."""

import json
import unittest

import support

# Enough to keep the links busy while other hosts talk.
LONG = ("-b", "1M", "-e", "1M", "-n", "60", "-w", "0")
BUSY = "l1h1,l2h1,l3h1,l4h1"


def iperf(lab, client: str, server: str, address: str, *options: str) -> dict:
    with lab.background(server, "iperf3", "-s", "-1", "-B", address):
        # The server may still be starting.
        for _ in range(20):
            done = lab.exec(client, "iperf3", "-c", address, "-J", *options)
            document = json.loads(done.stdout)
            if "unable to connect" not in document.get("error", ""):
                break
    if "error" in document:
        raise AssertionError(f"iperf3: {document['error']}")
    return document["end"]


class WhileReducing(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab("fat-tree-8").__enter__()
        self.addCleanup(self.lab.__exit__)

    def during_reductions(self, talk):
        """Calls talk() while reductions run on other hosts; they must be exact."""
        bench = self.lab.bench(*LONG, hosts=BUSY)
        try:
            support.until(lambda: self.sums_sent() > 100, what="a reduction")
            talk()
            self.assertTrue(bench.running(), "the reductions ended too early to prove anything")
        finally:
            document = bench.finish()
        self.assertEqual(support.wrong(document), 0)
        self.lab.assert_balanced(self)

    def sums_sent(self) -> int:
        return sum(row["originated_packets_total"] for row in self.lab.rows("counters"))

    def test_ping(self):
        def talk():
            done = self.lab.exec("l1h2", "ping", "-c", "20", "-i", "0.05", "-W", "2", "10.4.2.2")
            self.assertIn(" 0% packet loss", done.stdout)
        self.during_reductions(talk)

    def test_iperf_tcp(self):
        def talk():
            end = iperf(self.lab, "l2h2", "l3h2", "10.3.2.2", "-t", "1.5")
            self.assertGreater(end["sum_received"]["bits_per_second"], 20e6)
        self.during_reductions(talk)

    def test_iperf_udp(self):
        def talk():
            end = iperf(self.lab, "l2h2", "l3h2", "10.3.2.2", "-u", "-b", "20M", "-t", "1.5")
            self.assertLess(end["sum"]["lost_percent"], 5)
        self.during_reductions(talk)


class Routing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("fat-tree-8").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def ping(self, host: str, *arguments: str):
        return self.lab.exec(host, "ping", "-c", "1", "-W", "2", *arguments)

    def test_every_host_reaches_every_other(self):
        for host in self.lab.state["hosts"]:
            for name, address in self.lab.state["hosts"].items():
                done = self.ping(host, address)
                self.assertEqual(done.returncode, 0, f"{host} to {name}: {done.stdout}")

    def test_the_path_shows_in_the_ttl(self):
        self.assertIn("ttl=61", self.ping("l1h1", "10.4.1.2").stdout)  # leaf, spine, leaf
        self.assertIn("ttl=63", self.ping("l1h1", "10.1.2.2").stdout)

    def test_time_exceeded_names_every_hop(self):
        self.assertRegex(self.ping("l1h1", "-t", "1", "10.4.1.2").stdout,
                         r"From 10\.1\.\S+ .*Time to live exceeded")
        self.assertRegex(self.ping("l1h1", "-t", "2", "10.4.1.2").stdout,
                         r"From 10\.10[12]\.\S+ .*Time to live exceeded")

    def test_switches_answer_ping(self):
        for address in ("10.1.1.1", "10.1.255.1", "10.4.255.1", "10.101.255.1", "10.102.255.1"):
            self.assertEqual(self.ping("l1h1", address).returncode, 0, address)

    def test_shaping_limits_tcp(self):
        end = iperf(self.lab, "l1h1", "l4h1", "10.4.1.2", "-t", "2")
        rate = end["sum_received"]["bits_per_second"]
        self.assertLess(rate, 200e6)
        self.assertGreater(rate, 140e6)

    def test_large_pings_pass(self):
        self.assertEqual(self.ping("l1h1", "-M", "do", "-s", "1472", "10.4.1.2").returncode, 0)


class Bridging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def test_every_host_reaches_every_other(self):
        for host in self.lab.state["hosts"]:
            for address in (*self.lab.state["hosts"].values(), "10.0.0.254"):
                done = self.lab.exec(host, "ping", "-c", "1", "-W", "2", address)
                self.assertEqual(done.returncode, 0, f"{host} to {address}: {done.stdout}")

    def test_learned_addresses_are_listed(self):
        self.lab.exec("h1", "ping", "-c", "1", "10.0.0.2")
        self.assertLessEqual({"h1", "h2"}, {row["port"] for row in self.lab.rows("fdb")})

    def test_unicast_stays_between_its_hosts(self):
        self.lab.exec("h1", "ping", "-c", "1", "10.0.0.2")
        before = self.sent_by_port()
        self.lab.exec("h1", "ping", "-c", "50", "-i", "0.01", "10.0.0.2")
        after = self.sent_by_port()
        self.assertGreaterEqual(after["h2"] - before["h2"], 50)
        self.assertLess(after["h3"] - before["h3"], 10)

    def sent_by_port(self) -> dict:
        return {row["port"]: row["counters"]["tx_packets_total"] for row in self.lab.rows("port")}

    def test_iperf_tcp_and_udp(self):
        end = iperf(self.lab, "h1", "h2", "10.0.0.2", "-t", "1")
        self.assertGreater(end["sum_received"]["bits_per_second"], 100e6)
        end = iperf(self.lab, "h3", "h4", "10.0.0.4", "-u", "-b", "50M", "-t", "1")
        self.assertLess(end["sum"]["lost_percent"], 5)


if __name__ == "__main__":
    support.main()
