# SPDX-License-Identifier: BSD-3-Clause
"""PANAMA from end to end: trees placed by tributaryctl, workers that reduce over them."""

import os
import pathlib
import sys
import time
import unittest
from unittest import mock

import faults
import support
from panama_job import job, summed

STRANGER = pathlib.Path(__file__).resolve().parent / "panama_stranger.py"
SIZES = ("-b", "4K", "-e", "256K", "-f", "8", "-n", "2")


class Panama(unittest.TestCase):
    def reduce(self, lab: support.Lab, *options, **where) -> dict:
        before = summed(lab)
        document = lab.reduce(*SIZES, "--algorithm", "panama", *options, **where)
        self.assertEqual(support.wrong(document), 0)
        self.assertGreater(summed(lab), before)
        return document

    def reduce_until(self, lab: support.Lab, is_met) -> None:
        """On a busy machine a reduction may be over before a stranger has begun."""
        for _ in range(20):
            self.reduce(lab)
            if is_met():
                return
        self.fail("the stranger did nothing")

    def test_one_switch_two_to_four_workers(self):
        with support.Lab("star-4") as lab:
            for workers in (2, 3, 4):
                hosts = ",".join(f"h{n}" for n in range(1, workers + 1))
                with job(lab, "--hosts", hosts):
                    self.reduce(lab, hosts=hosts)
            lab.assert_balanced(self)

    def test_two_levels_one_and_two_trees(self):
        with support.Lab("fat-tree-8") as lab:
            for trees in (1, 2):
                with job(lab, "--trees", trees) as told:
                    self.assertEqual(len(told["TRIBUTARY_TREES"].split(",")), trees)
                    self.reduce(lab, "-d", "f32", "bf16", "i64", "-o", "sum", "max")
            lab.assert_balanced(self)

    def test_several_daemons(self):
        with support.Lab(*support.SPLIT_FABRIC) as lab, job(lab):
            self.reduce(lab)

    def test_one_percent_of_loss(self):
        with support.Lab("fat-tree-8", "--set", "switch.port.impair_in.loss=0.01",
                         "--set", "switch.port.impair_in.seed={n}") as lab, job(lab):
            self.reduce(lab)

    def through(self, lab: support.Lab, fault) -> None:
        """A fault in the middle of reductions, of which a window is the whole vector."""
        support.long_enough(lambda iterations: self.through_reductions(lab, fault, iterations), 400)

    def through_reductions(self, lab: support.Lab, fault, iterations: int) -> None:
        before = summed(lab)
        bench = lab.bench("-b", "64K", "-e", "64K", "-n", str(iterations), "-w", "0", "-d", "i32")
        try:
            support.until(lambda: summed(lab) > before + 200, what="a reduction")
            fault()
            if not bench.running():
                raise support.TooEarly("it ended too early to prove anything")
            self.assertEqual(support.wrong(bench.finish()), 0)
        finally:
            bench.stop()

    def test_a_host_that_is_cut_off_for_longer_than_switches_keep_results(self):
        def cut() -> None:
            lab.tool("link", "h2", "down")
            time.sleep(13.0)
            lab.tool("link", "h2", "up")

        with support.Lab("star-4") as lab, job(lab):
            self.through(lab, cut)
            lab.assert_balanced(self)

    def test_switches_that_are_killed_and_start_again(self):
        def kill(daemon: str) -> None:
            lab.tool("kill", daemon)
            time.sleep(0.5)
            lab.tool("restart", daemon)

        with support.Lab(*support.SPLIT_FABRIC) as lab, job(lab, "--trees", 1):
            faults.await_sessions(lab)
            for daemon in ("spine1", "leaf3"):
                with self.subTest(daemon):
                    self.through(lab, lambda: kill(daemon))

    def test_a_stranger_behind_the_port_of_a_member(self):
        def left() -> int:
            return sum(row["figures"]["left_total"] for row in lab.rows("engine") if row["engine"] == "panama")

        with support.Lab("star-4") as lab:
            for mode, is_met in (("address", lambda: lab.drops().get("panama_wrong_port", 0) > 100),
                                 ("lies", lambda: left() > 0)):
                with self.subTest(mode), job(lab), \
                        lab.background("h4", sys.executable, STRANGER, mode):
                    self.reduce_until(lab, is_met)
            lab.assert_balanced(self)

    def test_beside_canary(self):
        with support.Lab("fat-tree-8") as lab:
            with job(lab, "--hosts", "l1h1,l2h1,l3h1,l4h1"):
                panama = lab.bench(*SIZES, "--algorithm", "panama", hosts="l1h1,l2h1,l3h1,l4h1")
                with mock.patch.dict(os.environ):
                    for name in ("ALGORITHM", "TREES", "JOB"):
                        del os.environ[f"TRIBUTARY_{name}"]
                    canary = lab.bench(*SIZES, "--algorithm", "canary", port=29600,
                                       hosts="l1h2,l2h2,l3h2,l4h2")
                for bench in (panama, canary):
                    self.assertEqual(support.wrong(bench.finish()), 0)
            lab.assert_balanced(self)

    def test_partial_sums_are_verified_against_the_ranks_that_are_in_them(self):
        with support.Lab("star-4") as lab, job(lab, more="share = 0.75\n"):
            for _ in range(20):  # it depends on who is late
                figures = self.reduce(lab, "-d", "i32", "f32", "--check", "1")["panama"]
                if figures["results_partial"] > 0:
                    break
            self.assertGreater(figures["results_partial"], 0)
            self.assertRegex(figures["missing_by_rank"], r"^[0-3]:\d+(,[0-3]:\d+)*$")
            with self.subTest("Python is told who is missing"):
                self.tell_python(lab)
            with self.subTest("ranks have another share"), mock.patch.dict(os.environ, {"TRIBUTARY_SHARE": "1"}):
                bench = lab.bench(*SIZES, "--algorithm", "panama", "--fallback", "error", deadline_s=15)
                self.assertNotEqual(bench.end(), 0)
                self.assertIn("these ranks wait for all of them (TRIBUTARY_SHARE is 1)", bench.said)
            lab.assert_balanced(self)

    def tell_python(self, lab):
        package = support.BUILD / "src" / "bindings" / "python"
        if not list(package.glob("tributary/_core*.so")):
            self.skipTest("the Python package was not built")
        done = support.run(
            support.LAB, "run", lab.name, "--program", "/usr/bin/python3", "--time-limit", 60, "--",
            pathlib.Path(__file__).with_name("panama_partial_sums.py"),
            env=os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1",
                              "TRIBUTARY_ALGORITHM": "panama", "TRIBUTARY_FALLBACK": "error"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_trees_that_are_not_there(self):
        with support.Lab("star-4") as lab:
            with mock.patch.dict(os.environ, {"TRIBUTARY_JOB": "5",
                                              "TRIBUTARY_TREES": "239.192.9.9"}):
                bench = lab.bench(*SIZES, "--algorithm", "panama", "--fallback", "error",
                                  deadline_s=15)
                self.assertNotEqual(bench.end(), 0)
                self.assertIn("239.192.9.9", bench.said)


if __name__ == "__main__":
    support.main()
