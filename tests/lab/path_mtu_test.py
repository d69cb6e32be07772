# SPDX-License-Identifier: BSD-3-Clause
"""Links between switches that carry less than the hosts send."""

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


if __name__ == "__main__":
    support.main()
