# SPDX-License-Identifier: BSD-3-Clause
"""`auto` finds out which sizes hosts carry faster than switches, and carries each size by what was faster."""

import os
import re
import unittest
from unittest import mock

import support

SUMS_DSCP = 32  # cs4
# A block of Canary crosses the switch twice, to its leader and back, an exchange of two hosts once. And what hosts
# send each other gets a tenth of the line. So short vectors go faster by the hosts, and long ones by the switch,
# except on a machine that is busy otherwise: what counts is what was measured.
LAB = ("star-4", "--set", "switch.port.impair_out.delay=30ms", "--set", "switch.port.rate=80Mbit",
       "--set", 'switch.class=[{name="sums", dscp="cs4"}, {name="rest", rate="8Mbit"}]')
SHORT, LONG = 8, 262144
# Enough for the next size, which may take eight times as long, also where the processor was busy otherwise while
# this one was measured.
PLENTY = {"TRIBUTARY_TUNE": "on", "TRIBUTARY_TUNE_TIME": "15s", "TRIBUTARY_LOG": "info"}

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def planned(plan: str, size: int) -> str:
    """What carries that size by a plan such as "doubling up to 4 KiB, canary beyond"."""
    for part in plan.split(", "):
        bound = re.fullmatch(r"(\w+) up to (\d+) (\w+)", part)
        if bound is None or size <= int(bound[2]) * UNITS[bound[3]]:
            return part.split()[0]
    raise AssertionError(f"the plan ends early: {plan}")


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

    def assert_carried_as_planned(self, document: dict, said: str) -> None:
        plan = document["statistics"]["plan"]
        for size, carried in self.carried(document).items():
            self.assertEqual(carried, {"canary" if planned(plan, size) == "canary" else "ring"}, said)

    def test_each_size_goes_by_what_was_faster(self):
        document, said = self.reduce()
        self.assert_carried_as_planned(document, said)
        figures = document["statistics"]
        self.assertEqual(figures["collectives_by_plan"], figures["collectives_by_ring"])
        self.assertGreater(figures["tuned_us"], 0)
        measured = re.search(r"allreduces go by (.+) \(8 B: canary ([0-9.]+) ms, doubling ([0-9.]+) ms", said)
        self.assertEqual(measured[1], figures["plan"])
        canary, doubling = float(measured[2]), float(measured[3])
        if doubling < 0.89 * canary:
            self.assertNotEqual(planned(figures["plan"], SHORT), "canary", said)
        if figures["collectives_by_plan"]:
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
        self.assertEqual(figures["collectives_by_plan"], figures["collectives_by_ring"])
        if figures["collectives_by_plan"]:
            self.assertIn("sketched_allreduce of a size for which the hosts were faster than canary", said)

    def test_reproducible_sums_are_exact_by_whatever_carries_them(self):
        document, said = self.reduce(TRIBUTARY_REPRODUCIBLE="1")
        self.assert_carried_as_planned(document, said)


if __name__ == "__main__":
    support.main()
