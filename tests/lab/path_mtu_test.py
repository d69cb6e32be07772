# SPDX-License-Identifier: BSD-3-Clause
"""Links between switches that carry less than the hosts send, and strangers who say so."""

import unittest

import support
from panama_job import job


def reduce(lab: support.Lab, *options, algorithm: str = "auto", **where) -> tuple[dict, str]:
    """The document of a run with right sums, and what it said."""
    bench = lab.bench("-b", "256K", "-e", "256K", "-n", "2", "-w", "0", "--algorithm", algorithm, *options, **where)
    document = bench.finish()
    if support.wrong(document):
        raise AssertionError(f"wrong sums: {bench}")
    return document, bench.said


def sums_of_rings(lab: support.Lab) -> int:
    return sum(row["figures"]["sums_total"] for row in lab.rows("engine") if row["engine"] == "netreduce")


class SmallLinks(unittest.TestCase):
    def lab(self, mtu: int) -> support.Lab:
        """With that MTU between the switches, and 1500 at the hosts."""
        return support.Lab("fat-tree-8", "--set", f"switch.port.mtu={mtu}",
                           "--set", "switch.port[interface].mtu=1500")

    def test_canary_reduces_in_packets_that_pass(self):
        with self.lab(1300) as lab:
            document, said = reduce(lab, "-d", "i32")
        support.assert_switches_reduce(self, document)
        self.assertEqual(document["payload_bytes_max"], 1184, said)

    def test_below_the_base_of_the_search_the_hosts_reduce(self):
        with self.lab(1000) as lab:
            document, _ = reduce(lab, "-d", "i32")
        self.assertGreater(document["statistics"]["collectives_by_ring"], 0)


class SmallPorts(unittest.TestCase):
    """Hosts with larger packets than the ports of their switch take."""

    def test_trees_carry_packets_that_pass(self):
        sparse = "settings = { window = 16, sparse_window = 8 }\n"
        with support.Lab("star-4", "--set", "switch.port.mtu=1300", "--set",
                         "switch.flare.working_memory=8192") as lab:
            for algorithm, more, collective, options in (
                    ("panama", "", "allreduce", ("-d", "i32", "f32")), ("flare", sparse, "allreduce", ()),
                    ("flare", sparse, "sparse_allreduce", ("--density", "0.05"))):
                with self.subTest(algorithm, collective=collective), \
                        job(lab, "--algorithm", algorithm, more=more):
                    document, said = reduce(lab, "--fallback", "error", *options, algorithm=algorithm,
                                            collective=collective)
                    self.assertEqual(document["payload_bytes_max"], 1216, said)
            lab.assert_balanced(self)

    def test_a_ring_of_netreduce_carries_packets_that_pass(self):
        with support.Lab("star-4", "--set", "switch.port.mtu=1000") as lab:
            document, said = reduce(lab, "--fallback", "error", "--ring", "4", algorithm="netreduce")
            self.assertEqual(document["payload_bytes_max"], 504, said)
            self.assertIn("a link on the way has a smaller MTU than the hosts", said)
            lab.assert_balanced(self)


class SmallerLater(unittest.TestCase):
    """The switch's end of a cable takes smaller packets in the middle of a run, and nobody says so."""

    def test_the_run_says_so_and_the_next_one_searches(self):
        with support.Lab("star-4") as lab:
            bench = lab.bench("-d", "i32", "-b", "256K", "-e", "256K", "-n", "1000000", "--algorithm", "canary",
                              "--stall-timeout", "3")
            support.until(lambda: lab.rows("job") or not bench.running(), what="a reduction")
            lab.exec("switch", "ip", "link", "set", "h4", "mtu", "1300")
            self.assertNotEqual(bench.end(), 0)
            self.assertIn("a link has a smaller MTU than when the ranks met", bench.said)
            document, said = reduce(lab, "-d", "i32", "--fallback", "error", algorithm="canary")
            support.assert_switches_reduce(self, document)
            self.assertEqual(document["payload_bytes_max"], 1184, said)

    def test_a_ring_of_netreduce_says_so_and_the_next_one_searches(self):
        probe = 200  # sums, and less than a reduction has
        with support.Lab("star-4") as lab:
            bench = lab.bench("-d", "i32", "-b", "256K", "-e", "256K", "-n", "1000000", "--algorithm", "netreduce",
                              "--ring", "4", "--stall-timeout", "3")
            support.until(lambda: sums_of_rings(lab) > probe or not bench.running(), what="a reduction")
            lab.exec("switch", "ip", "link", "set", "h4", "mtu", "1000")
            self.assertNotEqual(bench.end(), 0)
            self.assertIn("a link has a smaller MTU than when the ranks met", bench.said)
            document, said = reduce(lab, "--fallback", "error", "--ring", "4", algorithm="netreduce")
            self.assertEqual(document["payload_bytes_max"], 504, said)


class ForgedIcmp(unittest.TestCase):
    """h4, which is no rank, tells the ranks that their paths take 576 bytes."""

    RANKS = {"h1": "10.0.0.1", "h2": "10.0.0.2", "h3": "10.0.0.3"}

    def setUp(self):
        self.lab = support.Lab("star-4").__enter__()
        self.addCleanup(self.lab.__exit__)

    def contributions(self) -> int:
        return sum(row["contributions_total"] for row in self.lab.rows("job"))

    def attack(self, iterations: int) -> None:
        bench = self.lab.bench("-d", "i32", "-b", "256K", "-e", "256K", "-n", iterations, "--algorithm",
                               "canary", "--fallback", "error", hosts=",".join(self.RANKS))
        support.until(lambda: self.contributions() > 0 or not bench.running(), what="a reduction")
        for host, address in self.RANKS.items():
            self.lab.belittle_paths("h4", host, address, set(self.RANKS.values()) - {address}, 576)
        before = self.contributions()
        support.until(lambda: self.contributions() > before or not bench.running(),
                      what="a reduction after that")
        over = not bench.running()
        document = bench.finish()
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        if over:
            raise support.TooEarly("the reductions ended before the attack")

    def test_collectives_go_on_with_full_packets(self):
        support.long_enough(self.attack, 200)
        self.assertNotIn("fragmentation_needed", self.lab.drops())


if __name__ == "__main__":
    support.main()
