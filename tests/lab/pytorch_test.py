# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's ranks in hosts of their own: gradients that the switch adds up, and a rank that dies."""

import json
import os
import pathlib
import re
import unittest

import support

# Debian's, which has torch.
PYTHON = "/usr/bin/python3"
PACKAGE = support.BUILD / "src" / "bindings" / "python"
TRAIN = support.ROOT / "examples" / "pytorch" / "train.py"
WORKER = pathlib.Path(__file__).resolve().parent / "pytorch_worker.py"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")


class PyTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "none").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def run_ranks(self, *arguments):
        return support.run(
            support.LAB, "run", self.lab.name, "--program", PYTHON, "--time-limit",
            int(support.PATIENCE_S) - 20, "--", *arguments,
            env=os.environ | {"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1",
                              "OMP_NUM_THREADS": "1", "TRIBUTARY_ALGORITHM": "canary"})

    def test_the_switch_adds_tensors_up(self):
        done = self.run_ranks(WORKER, "sums")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["algorithm"], "canary")
        support.assert_switches_reduce(self, document)
        self.lab.assert_balanced(self)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_the_example_trains_alike_on_all_ranks(self):
        done = self.run_ranks("-m", "tributary.torch", TRAIN, "--steps", 30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 ranks: canary, switches reduce on the way", done.stderr)
        digests = re.findall(r"parameters (\w+)", done.stdout + done.stderr)
        self.assertEqual((len(digests), len(set(digests))), (4, 1), digests)

    def test_a_rank_that_dies_has_its_number_told(self):
        done = self.run_ranks(WORKER, "die")
        self.assertNotEqual(done.returncode, 0)
        told = re.findall(r"all_reduce of 100000 Float \(sum\) on rank (\d) of 4 failed: .*rank 3 has ended",
                          done.stderr)
        self.assertEqual(sorted(told), ["0", "1", "2"], done.stderr)


if __name__ == "__main__":
    if not list(PACKAGE.glob("tributary/_torch*.so")):
        support.skip("the backend for PyTorch was not built: tools/install-packages pytorch")
    support.main()
