# SPDX-License-Identifier: BSD-3-Clause
"""`auto` finds out which sizes hosts carry faster than switches, and carries each size by what was faster."""

import os
import unittest
from unittest import mock

import support

SUMS_DSCP = 32  # cs4
# A block of Canary crosses the switch twice, to its leader and back, an exchange of two hosts once. And what hosts
# send each other gets a tenth of the line. So short vectors go faster by the hosts, and long ones by
# the switch, by more than any load of the machine changes.
LAB = ("star-4", "--set", "switch.port.impair_out.delay=30ms", "--set", "switch.port.rate=80Mbit",
       "--set", 'switch.class=[{name="sums", dscp="cs4"}, {name="rest", rate="8Mbit"}]')
SHORT, LONG = 8, 262144
# Enough for the next size, which may take eight times as long, also where the processor was busy otherwise while
# this one was measured.
PLENTY = {"TRIBUTARY_TUNE": "on", "TRIBUTARY_TUNE_TIME": "15s", "TRIBUTARY_LOG": "info"}


class Tuning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab(*LAB).__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def reduce(self, algorithm: str = "auto", collective: str = "allreduce", **environment) -> tuple[dict, str]:
        """By two hosts: what carried each size, and what was said."""
        with mock.patch.dict(os.environ, PLENTY | environment):
            types = ("-d", "f32,i16") if collective == "allreduce" else ()
            bench = self.lab.bench(*types, "-b", SHORT, "-e", LONG, "-f", 32, "-n", "1",
                                   "-w", "1", "--algorithm", algorithm, "--dscp", SUMS_DSCP, "--window", "512",
                                   "--canary-congestion-control", "off", hosts="h1,h2",
                                   collective=collective)
            document = bench.finish()
        self.assertEqual(support.wrong(document), 0, bench.said)
        return document, bench.said

    def carried(self, document: dict) -> dict[int, set[str]]:
        carried: dict[int, set[str]] = {}
        for row in document["rows"]:
            carried.setdefault(row["size"], set()).add(row["algorithm"])
        return carried

    def test_short_vectors_go_by_the_hosts_and_long_ones_by_the_switch(self):
        document, said = self.reduce()
        carried = self.carried(document)
        self.assertEqual(carried[min(carried)], {"ring"}, said)
        self.assertEqual(carried[max(carried)], {"canary"}, said)
        figures = document["statistics"]
        self.assertGreater(figures["collectives_by_canary"], 0)
        self.assertGreater(figures["collectives_by_plan"], 0)
        self.assertEqual(figures["collectives_by_plan"], figures["collectives_by_ring"])
        self.assertGreater(figures["tuned_us"], 0)
        self.assertRegex(figures["plan"], "^doubling up to .*canary beyond$")
        self.assertIn(f"allreduces go by {figures['plan']} (8 B: canary ", said)
        self.assertIn("allreduce of a size for which the hosts were faster than canary", said)

    def test_it_can_be_switched_off(self):
        for environment, algorithm in (({"TRIBUTARY_TUNE": "off"}, "auto"), ({}, "canary")):
            with self.subTest(algorithm=algorithm):
                document, said = self.reduce(algorithm, **environment)
                for carried in self.carried(document).values():
                    self.assertEqual(carried, {"canary"}, said)
                self.assertEqual(document["statistics"]["tuned_us"], 0)
                self.assertNotIn("allreduces go by", said)

    def test_sketches_go_by_what_is_faster_for_what_they_give(self):
        document, said = self.reduce(collective="sketched_allreduce")
        figures = document["statistics"]
        self.assertGreater(figures["collectives_by_plan"], 0, said)
        self.assertEqual(figures["collectives_by_plan"], figures["collectives_by_ring"])
        self.assertIn("sketched_allreduce of a size for which the hosts were faster than canary", said)

    def test_reproducible_sums_are_exact_by_whatever_carries_them(self):
        document, said = self.reduce(TRIBUTARY_REPRODUCIBLE="1")
        self.assertGreater(document["statistics"]["collectives_by_plan"], 0, said)
        self.assertGreater(document["statistics"]["collectives_by_canary"], 0, said)


if __name__ == "__main__":
    support.main()
