# SPDX-License-Identifier: BSD-3-Clause
"""Every element of every reduction, in fat-tree-8."""

import unittest

import support

# Around the ends of packets of 1 to 8 byte elements (1408 bytes of payload), and a prime number.
COUNTS = "0,1,2,175,176,177,351,352,353,703,704,705,1407,1408,1409,10007"
FEW_COUNTS = "0,1,353,1409,10007"
# Elements of every width, and of every kind that is added up in its own way. Where not the arithmetic
# but the fabric differs, they stand for all types.
SOME = ("-d", "f32,f16,f8e4m3,i4,i16,i64,f64_i32", "-o", "all")
ONCE = ("-n", "1", "-w", "0")


class Exactness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = cls.enterClassContext(support.Lab("fat-tree-8"))

    def test_every_type_and_operator_with_eight_workers(self):
        document = self.lab.reduce("-d", "all", "-o", "all", "--counts", COUNTS, *ONCE)
        self.assertEqual(len(document["rows"]), 82 * len(COUNTS.split(",")))
        self.assertEqual(support.wrong(document), 0)

    def test_packets_are_as_large_as_the_interface_allows(self):
        document = self.lab.reduce("--counts", "1000", *ONCE)
        self.assertEqual(document["payload_bytes_max"], 1408)

    def test_other_world_sizes(self):
        for workers in (1, 2, 3, 5, 7):
            with self.subTest(workers=workers):
                document = self.lab.reduce(*SOME, "--counts", FEW_COUNTS, *ONCE, workers=workers)
                self.assertEqual(document["ranks"], workers)
                self.assertEqual(support.wrong(document), 0)

    def test_unaligned_buffers(self):
        for bytes_off in ("1", "3"):
            document = self.lab.reduce("-d", "all", "-o", "sum,max", "--counts", FEW_COUNTS, *ONCE,
                                       "--misalign", bytes_off)
            self.assertEqual(support.wrong(document), 0)

    def test_ring(self):
        document = self.lab.reduce("-d", "all", "-o", "all", "--counts", FEW_COUNTS, *ONCE,
                                   "--algorithm", "ring")
        self.assertEqual(support.wrong(document), 0)

    def test_directly_over_ethernet(self):
        document = self.lab.reduce("-d", "f32,f16,i8", "-o", "sum", "--counts", FEW_COUNTS, *ONCE,
                                   "--encapsulation", "ethernet")
        self.assertEqual(support.wrong(document), 0)

    def test_one_worker_a_second_late(self):
        document = self.lab.reduce("-b", "64K", "-e", "64K", *ONCE, delay="l3h1=1")
        self.assertEqual(support.wrong(document), 0)

    def test_two_communicators_at_once(self):
        arguments = ("-b", "4K", "-e", "256K", "-n", "5")
        benches = [self.lab.bench(*arguments, port=29500),
                   self.lab.bench(*arguments, "-d", "i32", port=29600)]
        for document in [bench.finish() for bench in benches]:
            self.assertEqual(support.wrong(document), 0)

    def test_two_communicators_on_disjoint_hosts(self):
        arguments = ("-b", "4K", "-e", "256K", "-n", "5")
        benches = [self.lab.bench(*arguments, hosts="l1h1,l2h1,l3h1,l4h1"),
                   self.lab.bench(*arguments, hosts="l4h2,l3h2,l2h2,l1h2")]
        for document in [bench.finish() for bench in benches]:
            self.assertEqual(support.wrong(document), 0)


class OtherFabrics(unittest.TestCase):
    """Integers are compared bit for bit with the reference, so that equal is equal."""

    def check(self, kind: str, *options: str, arguments=()):
        with support.Lab(kind, *options) as lab:
            document = lab.reduce(*SOME, "--counts", FEW_COUNTS, *ONCE, *arguments)
            self.assertEqual(support.wrong(document), 0)
            return document

    def test_one_daemon_per_switch(self):
        self.check(*support.SPLIT_FABRIC)

    def test_two_cores(self):
        self.check("fat-tree-8", "--cores", "0,1")

    def test_few_descriptors_collide(self):
        self.check("fat-tree-8", "--descriptors", "4")

    def test_an_impatient_switch_sends_partial_sums(self):
        self.check("fat-tree-8", "--timeout", "1us")

    def test_jumbo_frames(self):
        document = self.check("fat-tree-8", "--mtu", "9000")
        self.assertGreater(document["payload_bytes_max"], 8000)

    def test_bridged(self):
        self.check("star-4")


if __name__ == "__main__":
    support.main()
