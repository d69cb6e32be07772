# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that exchange gradients at speeds of their own, through a switch: one of four is slow."""

import json
import os
import pathlib
import tempfile
import unittest

import support
from panama_job import job, summed

WORKER = support.BUILD / "tests" / "lab" / "loose_worker"
TRAIN = support.BUILD / "examples" / "training" / "train"
PIPELINE = support.BUILD / "examples" / "training" / "pipeline"
LAYER_ELEMENTS = (20_000, 1, 3_000, 70_000)  # as the worker has them
LAYERS = len(LAYER_ELEMENTS)
ITERATIONS = 12
COMPUTE_MS = 20
SLOWNESS = 6


class CommandLines(unittest.TestCase):
    """Of the programs that train; they say what is wrong before they look for other ranks."""

    def assert_refused(self, program, arguments: str, why: str) -> None:
        done = support.run(program, *arguments.split())
        self.assertEqual((done.returncode, done.stderr), (2, why + "\n"))

    def test_of_the_worker(self):
        self.assert_refused(WORKER, "sspp 3 1 1 1 1 0 32", "SYNCHRONY is to be bsp, ssp, drop or asp, not 'sspp'")
        self.assert_refused(WORKER, "ssp three 1 1 1 1 0 32",
                            "STALENESS is to be a number from 0 to 1000000000, not 'three'")

    def test_of_the_example(self):
        self.assert_refused(TRAIN, "sspp 3 1 1 1 1", "ranks train by bsp, ssp, drop, asp or allreduce, not by 'sspp'")
        self.assert_refused(TRAIN, "ssp 3 1s 1 1 1", "SECONDS is to be a number from 0 to 1e+06, not '1s'")
        self.assert_refused(TRAIN, "allreduce -1 1 1 1 1",
                            "STALENESS is to be a number from 0 to 1000000000, not '-1'")

    def test_of_the_pipeline(self):
        self.assert_refused(PIPELINE, "4 1000 1 9", "pipeline LAYERS ELEMENTS COMPUTE_MS ITERATIONS PASSES")
        self.assert_refused(PIPELINE, "0 1000 1 9 1", "LAYERS is to be a number from 1 to 100000000, not '0'")


class InALab(unittest.TestCase):
    KIND = ""

    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab(cls.KIND, "--rate", "none").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def train(self, synchrony: str, staleness: int = 0, proportion: float = 1, regroup: int = 0,
              slowness: int = SLOWNESS, bits: int = 32, **variables) -> dict:
        """What the ranks did. The workers themselves compare every sum with its contributors."""
        done = support.run(support.LAB, "run", self.lab.name, "--program", WORKER, "--time-limit",
                           int(support.PATIENCE_S) - 20, "--", synchrony, staleness, proportion,
                           ITERATIONS, COMPUTE_MS, slowness, regroup, bits,
                           env=os.environ | {"TRIBUTARY_STALL_TIMEOUT": "120s"} | variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        did = json.loads(done.stdout)
        self.assertTrue(did["replicas_alike"], did)
        self.assertEqual(did["iterations"], [ITERATIONS] * 4)
        self.assertEqual(did["by_plan"], 0)  # nothing was measured
        self.assertEqual(did["sketch_bytes"] > 0, bits < 32)
        if variables.get("TRIBUTARY_ALGORITHM", "canary") in ("canary", "mesh-switches"):
            self.assertGreater(did["switch_sums_seen"], 0)
        return did

    def assert_nothing_is_lost(self, did: dict) -> None:
        self.assertEqual(did["layers_contributed"], [LAYERS * ITERATIONS] * 4)
        self.assertEqual(did["full_rows"], ITERATIONS)
        self.assertEqual(did["latest"], ITERATIONS - 1)


class Loose(InALab):
    KIND = "star-4"

    def require_faster(self, did: dict) -> None:
        """On a busy machine all may be as slow as the slow rank, unless that one is slower."""
        if max(did["took_ms"][:3]) >= did["took_ms"][3]:
            raise support.TooEarly(f"the other ranks were as slow as the slow one: {did['took_ms']} ms")

    def test_bsp_has_everybody_in_every_sum(self):
        did = self.train("bsp")
        self.assert_nothing_is_lost(did)
        self.assertEqual(did["layers_summed"], LAYERS * ITERATIONS)
        # All are as slow as the slowest.
        self.assertGreater(min(did["took_ms"]), ITERATIONS * COMPUTE_MS * SLOWNESS * 0.9)

    def test_ssp_waits_when_the_staleness_is_reached(self):
        for variables in ({"TRIBUTARY_ALGORITHM": "canary"}, {"TRIBUTARY_ALGORITHM": "ring"},
                          {"TRIBUTARY_ALGORITHM": "netreduce", "TRIBUTARY_NETREDUCE_RING": "4"}):
            with self.subTest(variables=variables):
                did = self.train("ssp", staleness=3, **variables)
                self.assert_nothing_is_lost(did)
                self.assertGreater(did["layers_summed"], LAYERS * ITERATIONS)
                # A fast rank begins its last iteration when the slow one is done with all but four.
                least = (ITERATIONS - 4) * COMPUTE_MS * SLOWNESS * 0.9
                self.assertGreater(min(did["took_ms"][:3]), least)

    def test_sums_of_sketches_have_whom_they_say(self):
        for synchrony in "bsp", "ssp", "asp":
            with self.subTest(synchrony=synchrony):
                self.assert_nothing_is_lost(self.train(synchrony, staleness=3, slowness=2, bits=16))

    def test_sums_over_panama_are_whole_whatever_its_share(self):
        for share in 1, 0.75:
            with self.subTest(share=share), job(self.lab, more=f"share = {share}\n"):
                before = summed(self.lab)
                self.assert_nothing_is_lost(self.train("ssp", staleness=3,
                                                       TRIBUTARY_ALGORITHM="panama"))
                # With ranks that may be missing sums go by the ring, and what creation asks does not.
                packets = sum(LAYER_ELEMENTS) / 400  # at least
                self.assertEqual(summed(self.lab) - before > ITERATIONS * packets, share == 1)

    def test_asp_does_not_wait_for_the_slow_rank(self):
        def attempt(slowness: int) -> dict:
            did = self.train("asp", slowness=slowness)
            self.require_faster(did)
            return did

        did = support.long_enough(attempt, SLOWNESS, factor=4)
        self.assertEqual(did["layers_contributed"], [LAYERS * ITERATIONS] * 4)

    def test_colayers_are_formed_while_sums_and_gradients_overlap(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "timeline.json"
            did = self.train("bsp", regroup=3, TRIBUTARY_TIMELINE=str(file))
            self.assert_nothing_is_lost(did)
            # One layer has a single element: it costs less to offer it with another one.
            self.assertLess(did["colayers"][0], LAYERS)
            self.assertEqual(len(set(did["colayers"])), 1, "ranks differ, though all are together")
            events = [event for event in json.loads(file.read_text() + "{}]")
                      if event.get("ph") == "X"]
        computed = [event for event in events if event["name"] == "compute"]
        self.assertEqual(len(computed), 4 * ITERATIONS)
        self.assertGreater(len({event["args"]["colayers"] for event in computed}), 1)
        sums = [event for event in events if event["name"] == "allreduce"]

        def overlap(a: dict, b: dict) -> bool:
            return (a["pid"] == b["pid"] and a["ts"] < b["ts"] + b["dur"]
                    and b["ts"] < a["ts"] + a["dur"])
        # Sums begin when the slow rank has their gradients, and computes others.
        slow = max(computed, key=lambda event: event["dur"])["pid"]
        self.assertTrue(any(overlap(a, b) for a in computed for b in sums if a["pid"] == slow),
                        "no sum while a gradient is computed")

    def test_a_stale_rank_drops_its_gradient_and_gets_parameters(self):
        def attempt(slowness: int) -> dict:
            did = self.train("drop", staleness=1, slowness=slowness)
            if did["iterations_dropped"][3] == 0:
                raise support.TooEarly("the slow rank was never stale, as the others were not faster")
            self.require_faster(did)
            return did

        did = support.long_enough(attempt, SLOWNESS, factor=4)
        self.assertGreaterEqual(did["pulls"][3], did["iterations_dropped"][3])
        self.assertLess(did["layers_contributed"][3], LAYERS * ITERATIONS)


class OverSeveralInterfaces(InALab):
    KIND = "bcube-2-2"

    def test_all_that_the_paper_has_together(self):
        """SSP with half of the layers as the paper's p, sketches, and BCube over two interfaces of each host."""
        for algorithm in "bcube", "mesh-switches":
            with self.subTest(algorithm=algorithm):
                did = self.train("ssp", staleness=1, proportion=0.5, slowness=2, bits=16,
                                 TRIBUTARY_ALGORITHM=algorithm, TRIBUTARY_INTERFACES="eth0,eth1")
                self.assert_nothing_is_lost(did)


if __name__ == "__main__":
    support.main()
