# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that play NCCL, by its plugin, over a switch that adds up what they reduce."""

import os
import subprocess
import tempfile
import unittest

import support

RANK = support.BUILD / "tests" / "bindings" / "nccl_rank"
PLUGIN = support.BUILD / "src" / "bindings" / "nccl" / "libnccl-net-tributary.so"
RANKS = 4


class OverASwitch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "none").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def run_ranks(self, case: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as directory:
            done = support.run(support.LAB, "run", self.lab.name, "--program", RANK, "--time-limit",
                               int(support.PATIENCE_S) - 20, "--", PLUGIN, "11", case, directory,
                               env=os.environ | {"TRIBUTARY_STALL_TIMEOUT": "120s",
                                                 "TRIBUTARY_NCCL_CONNECT_TIMEOUT": "120"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_switch_adds(self):
        done = self.run_ranks("sums")
        self.assertEqual(done.stderr.count("canary, switches reduce on the way"), RANKS, done.stderr)
        self.lab.assert_balanced(self)

    def test_messages_go_by_tcp(self):
        self.run_ranks("messages")


if __name__ == "__main__":
    support.main()
