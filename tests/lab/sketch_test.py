# SPDX-License-Identifier: BSD-3-Clause
"""Sketched allreduce: the switches add what hosts rounded, and add no error of their own."""

import unittest

import support

LOSS = ("--set", "switch.port.impair_in.loss=0.01", "--set", "switch.port.impair_in.seed={n}")


class Sketch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", *LOSS).__enter__()
        cls.addClassCleanup(cls.lab.__exit__)

    def reduce(self, *arguments, counts: str = "1,511,100003") -> dict:
        document = self.lab.reduce("--counts", counts, "-n", "1", *arguments, collective="sketched_allreduce")
        self.assertEqual(support.wrong(document), 0)
        return document

    def errors(self, document: dict) -> list[float]:
        return [row[placement]["relative_error"] for row in document["rows"]
                for placement in ("out_of_place", "in_place")]

    def test_by_switches_as_by_the_ring(self):
        share = {16: 0.51, 8: 0.26, 4: 0.13}
        for bits in share:
            for rounding in ("stochastic", "nearest"):
                with self.subTest(bits=bits, rounding=rounding):
                    how = ("--bits", bits, "--rounding", rounding)
                    switches = self.reduce(*how, "--algorithm", "canary")
                    ring = self.reduce(*how, "--algorithm", "ring")
                    support.assert_switches_reduce(self, switches)
                    self.assertEqual(self.errors(switches), self.errors(ring))
                    figures = switches["statistics"]
                    self.assertLess(figures["sketch_bytes"],
                                    share[bits] * figures["sketch_bytes_of_floats"])
        self.lab.assert_balanced(self)

    def test_more_bits_are_more_exact(self):
        errors = [self.errors(self.reduce("--bits", bits))[-1] for bits in (16, 8, 4)]
        self.assertLess(errors[0], 0.001)
        self.assertLess(errors[1], 0.1)
        self.assertEqual(errors, sorted(errors))

    def test_quantiles(self):
        for bits in (8, 4, 2):
            with self.subTest(bits=bits):
                document = self.reduce("--sketch", "quantiles", "--bits", bits)
                self.assertEqual({row["algorithm"] for row in document["rows"]}, {"canary"})
                self.assertLess(max(self.errors(document)), {8: 0.25, 4: 1.2, 2: 3}[bits])

    def test_matrices_by_their_factors(self):
        shapes = "9,4096,400000"  # squares, and nearly one
        for bits, most in ((32, 1e-4), (16, 0.01), (8, 0.5)):
            with self.subTest(bits=bits):
                how = ("--low-rank", 3, "--bits", bits)
                switches = self.reduce(*how, "--algorithm", "canary", counts=shapes)
                support.assert_switches_reduce(self, switches)
                self.assertEqual([row["columns"] for row in switches["rows"]], [3, 64, 640])
                self.assertLess(max(self.errors(switches)), most)
                figures = switches["statistics"]
                self.assertLess(figures["sketch_bytes"], 0.02 * figures["sketch_bytes_of_floats"])
                if bits != 32:  # sums of integers
                    ring = self.reduce(*how, "--algorithm", "ring", counts=shapes)
                    self.assertEqual(self.errors(switches), self.errors(ring))
        self.lab.assert_balanced(self)

    def test_seeds_replay(self):
        first, again, other = (self.errors(self.reduce("--seed", seed)) for seed in (3, 3, 4))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)


class ThreeLevels(unittest.TestCase):
    def test_as_many_switches_as_there_are_add_no_error(self):
        """Sixteen ranks; what leaves added up, spines add up, and cores."""
        with support.Lab("fat-tree-3-level") as lab:
            for how in (("--bits", 16), ("--bits", 8), ("--bits", 16, "--low-rank", 2)):
                with self.subTest(how=how):
                    switches, ring = (
                        lab.reduce("--counts", "10000", "-n", "1", *how, "--algorithm", algorithm,
                                   collective="sketched_allreduce")
                        for algorithm in ("canary", "ring"))
                    self.assertEqual((support.wrong(switches), support.wrong(ring)), (0, 0))
                    support.assert_switches_reduce(self, switches)
                    self.assertEqual(*([row["in_place"]["relative_error"] for row in document["rows"]]
                                       for document in (switches, ring)))
            lab.assert_balanced(self)


if __name__ == "__main__":
    support.main()
