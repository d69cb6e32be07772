# SPDX-License-Identifier: BSD-3-Clause
"""Links between switches that carry less than the hosts send, and strangers who say so."""

import unittest

import support


class SmallLinks(unittest.TestCase):
    def reduce(self, mtu: int) -> tuple[dict, str]:
        """With that MTU between the switches, and 1500 at the hosts."""
        with support.Lab("fat-tree-8", "--set", f"switch.port.mtu={mtu}",
                         "--set", "switch.port[interface].mtu=1500") as lab:
            bench = lab.bench("-d", "i32", "-o", "sum", "-b", "256K", "-e", "256K", "-n", "2", "-w", "0",
                              "--algorithm", "auto")
            document = bench.finish()
            self.assertEqual(support.wrong(document), 0)
            return document, str(bench)

    def test_switches_reduce_in_packets_that_pass(self):
        document, said = self.reduce(1300)
        support.assert_switches_reduce(self, document)
        self.assertEqual(document["payload_bytes_max"], 1184, said)

    def test_below_the_base_of_the_search_the_hosts_reduce(self):
        document, _ = self.reduce(1000)
        self.assertGreater(document["statistics"]["collectives_by_ring"], 0)


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
