# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in C, by tributary.h, through a switch."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import support
from panama_job import job

WORKER = support.BUILD / "tests" / "lab" / "c_worker"


class InterfaceForC(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "none", "--set", "switch.flare.working_memory=8192").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def run_ranks(self, *arguments, **variables) -> subprocess.CompletedProcess:
        return support.run(support.LAB, "run", self.lab.name, "--program", WORKER, "--time-limit",
                           int(support.PATIENCE_S) - 20, "--", *arguments,
                           env=os.environ | {"TRIBUTARY_STALL_TIMEOUT": "120s",
                                             "TRIBUTARY_ALGORITHM": "canary"} | variables)

    def figures(self, *arguments, **variables) -> dict:
        done = self.run_ranks(*arguments, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_collectives_go_on_while_the_caller_computes(self):
        figures = self.figures("overlap")
        self.assertEqual(figures["algorithm"], "canary")
        self.assertGreater(figures["switch_sums_seen"], 0)
        self.assertGreater(figures["collectives_fused"], 0)

    def test_parts_have_sums_of_their_own(self):
        self.assertEqual(self.figures("parts")["algorithm"], "canary")

    def test_gradients_are_exchanged_loosely(self):
        figures = self.figures("loose")
        self.assertEqual(figures["algorithm"], "canary")
        self.assertGreater(figures["switch_sums_seen"], 0)

    def test_nobody_is_missing_in_what_machines_gather(self):
        """Where sums may lack one of four machines."""
        with job(self.lab, "--trees", 1, more="share = 0.75\n"):
            done = support.run(support.LAB, "run", self.lab.name, "--per-host", 2, "--program", WORKER,
                               "--time-limit", int(support.PATIENCE_S) - 20, "--", "gather",
                               env=os.environ | {"TRIBUTARY_ALGORITHM": "panama", "TRIBUTARY_FALLBACK": "error"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def check_deadline(self, algorithm: str, places: str):
        done = self.run_ranks("deadline", TRIBUTARY_LOG="info", TRIBUTARY_ALGORITHM=algorithm,
                              TRIBUTARY_FALLBACK="error")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(done.stderr.count("by the deadline of its request"), 3, done.stderr)
        self.assertRegex(done.stderr, rf"ended after .*: \d+ collectives by {algorithm}{places} \(bytes_sent=\d+")
        self.assertRegex(done.stderr, r"hosts, 1 failed")

    def test_a_deadline_gives_up_one_collective(self):
        self.check_deadline("canary", "")
        with job(self.lab, "--trees", 1):
            self.check_deadline("panama", r" over 239\.[0-9.]+")
        with job(self.lab, "--algorithm", "flare"):
            self.check_deadline("flare", r" over 239\.[0-9.]+")

    def test_who_leaves_is_an_error_on_the_others(self):
        # The others have to meet within that, too.
        done = self.run_ranks("leave", TRIBUTARY_STALL_TIMEOUT="20s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("rank 3"), 3, done.stderr)

    def test_a_report_and_a_timeline(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "timeline.json"
            done = self.run_ranks("overlap", TRIBUTARY_REPORT="1", TRIBUTARY_TIMELINE=str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            events = json.loads(path.read_text() + "{}]")
        self.assertRegex(done.stderr, r"allreduce +128 KiB canary")
        self.assertRegex(done.stderr, r"rank \d came last: rank \d waited in collectives for")
        calls = [event for event in events if event.get("ph") == "X"]
        self.assertEqual(len({event["pid"] for event in calls}), 4)
        self.assertGreaterEqual(sum(event["name"] == "allreduce" for event in calls), 4 * 32)


if __name__ == "__main__":
    support.main()
