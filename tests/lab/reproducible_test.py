# SPDX-License-Identifier: BSD-3-Clause
"""Reproducible sums: one digest, whatever carries them, on any number of cores, from any hosts."""

import os
import unittest
from unittest import mock

import support

FLOAT_SUMS = support.BUILD / "tests" / "lab" / "float_sums"
LOSS = ("--set", "switch.port.impair_in.loss=0.01", "--set", "switch.port.impair_in.seed={n}")
# Of four ranks: a leaf each, two leaves, and as it comes.
PLACEMENTS = ("l1h1,l2h1,l3h1,l4h1", "l1h1,l1h2,l2h1,l2h2", "l4h2,l1h1,l3h2,l2h1")


class Reproducible(unittest.TestCase):
    def digest(self, lab: support.Lab, algorithm: str, hosts: str) -> str:
        """Of the floats of four ranks, which come in other orders in each of twelve rounds."""
        environment = {"TRIBUTARY_REPRODUCIBLE": "1", "TRIBUTARY_ALGORITHM": algorithm}
        with mock.patch.dict(os.environ, environment):
            said = lab.tool("run", "--build-dir", support.BUILD, "--hosts", hosts, "--program",
                            FLOAT_SUMS, "--", 12)
        carrier, digest = said.split()[:2]
        self.assertEqual(carrier, algorithm)
        return digest

    def test_one_digest(self):
        digests = {}
        for cores in ("0", "0,1"):
            with support.Lab("fat-tree-8", "--cores", cores, *LOSS) as lab:
                for hosts in PLACEMENTS:
                    for algorithm in ("canary", "ring"):
                        where = f"{algorithm}, cores {cores}, {hosts}"
                        digests[where] = self.digest(lab, algorithm, hosts)
                lab.assert_balanced(self)
        self.assertEqual(len(set(digests.values())), 1, digests)

    def test_sums_are_right(self):
        with support.Lab("star-4") as lab:
            bench = lab.bench("-d", "f32,f64,f16,bf16", "-o", "sum,max,prod", "--counts",
                              "1,257,10007", "-n", "2", "--algorithm", "canary", "--reproducible")
            document = bench.finish()
            self.assertEqual(support.wrong(document), 0)
            self.assertTrue(document["reproducible"])
            self.assertIn("sums are reproducible", bench.said)


if __name__ == "__main__":
    support.main()
