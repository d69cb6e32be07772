# SPDX-License-Identifier: BSD-3-Clause
"""Canary in a fat tree of three levels: what goes over the links between spines and cores."""

import unittest

import support

LINKS = 16  # one from each of eight spines to each of its two cores


class Levels(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab("fat-tree-3-level").__enter__()
        self.addCleanup(self.lab.__exit__)

    def sent(self) -> list[int]:
        """Packets, up the links and down them."""
        return [row["counters"]["tx_packets_total"] for row in self.lab.rows("port")
                if "spine" in row["switch"] and row["port"].startswith("core")
                or row["switch"].startswith("core")]

    def shares(self) -> list[float]:
        """Of the mean, that each direction of each link carried of exact allreduces of 16 workers."""
        before = self.sent()
        document = self.lab.reduce("-d", "i32,f32", "-o", "sum", "-b", "512K", "-e", "512K", "-n", "2",
                                   "-w", "0", "--algorithm", "canary")
        self.assertEqual(document["ranks"], 16)
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        packets = [after - was for after, was in zip(self.sent(), before, strict=True)]
        self.assertEqual(len(packets), 2 * LINKS)
        return [count * len(packets) / sum(packets) for count in packets]

    def test_with_a_seed_for_each_level_all_links_are_used_alike(self):
        shares = self.shares()
        self.assertGreater(min(shares), 0.5, shares)
        self.assertLess(max(shares), 1.5, shares)

    def test_with_one_seed_for_all_levels_half_of_the_links_are_idle(self):
        self.lab.tool("reload", "--set", "switch.selection.reduction_seed=0")
        idle = [share for share in self.shares() if share < 0.2]
        self.assertEqual(len(idle), LINKS)
        self.lab.assert_balanced(self)


if __name__ == "__main__":
    support.main()
