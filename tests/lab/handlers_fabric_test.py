# SPDX-License-Identifier: BSD-3-Clause
"""Handlers, operators that people bring, from end to end: switches combine by them, and nobody believes
what another handler combined."""

import contextlib
import os
import unittest
from unittest import mock

import faults
import handler_lab
import support
from panama_job import job, summed

SKETCH_MERGE = support.BUILD / "tests" / "lab" / "sketch_merge"
SLOW_HANDLER = support.BUILD / "tests" / "lab" / "slow_handler.so"
FLARE = ("--set", "switch.flare.working_memory=8192")
ONCE = ("--counts", "1,352,10007", "-n", "2")
LONG = ("-b", "64K", "-e", "64K", "-n", "1200", "-w", "0")
# The values of tributary-bench are 0 to 3: eight of them are more.
CAPPED = "acc = min(acc + in, 5);"
EXPRESSIONS = {
    1: ("i8", CAPPED),
    2: ("f32", "ours = abs(acc); theirs = abs(in); acc = ours < theirs ? theirs : ours;"),
    3: ("i64", "acc = (acc | in) & 0x7f;"),
    4: ("bf16", "acc = clamp(acc + in, 0, 6);"),
}
FILES = {
    11: ("i8", "saturating_add"),
    12: ("opaque8", "complex_product"),
    13: ("opaque8", "kahan_sum"),
    14: ("f32_i32", "topk_merge"),
}
# As long as they may be, or with results that a processor has a trap for. Whatever the order, they
# make the same of the same elements.
HOSTILE = {
    21: ("i8", "sum = acc + in; acc = " + " & ".join(["sum"] * 63)),
    22: ("i32", "zero = in - in; acc = (acc + in) / zero + (acc + in) % zero + (acc << zero - 1) * zero"),
    23: ("i64", "low = (in - in + 1) << 63; minus = in - in - 1; acc = low / minus + low % minus;"),
    24: ("f32", "acc = (acc + in) / (in - in) == 1;"),
}


def brought(number: int, element_type: str, source: str) -> tuple[str, ...]:
    """What tributary-bench is told of a handler that it is to measure."""
    return "--handler", f"{number}={source}", "-d", element_type, "-o", f"handler:{number}"


class Handlers(unittest.TestCase):
    def check(self, lab: support.Lab, options, **where) -> dict:
        document = lab.reduce(*options, **where)
        self.assertEqual(support.wrong(document), 0)
        return document

    def every_one(self, lab: support.Lab, home) -> list[tuple[int, str, str]]:
        """Loaded into the switches."""
        sources = [(number, element_type, text)
                   for number, (element_type, text) in (EXPRESSIONS | HOSTILE).items()]
        for number, element_type, text in sources:
            handler_lab.load(lab, number, text, element_type)
        for number, (element_type, name) in FILES.items():
            sources.append((number, element_type, str(home / f"{name}.so")))
            handler_lab.load(lab, number, sources[-1][2])
        self.assertEqual({number: row["type"] for number, row in handler_lab.listed(lab).items()},
                         {number: element_type for number, element_type, _ in sources})
        return sources

    def test_canary(self):
        with handler_lab.directory() as home, \
                support.Lab("fat-tree-8", *handler_lab.allowed(home)) as lab:
            for number, element_type, source in self.every_one(lab, home):
                with self.subTest(source):
                    document = self.check(lab, (*ONCE, "--algorithm", "canary,ring",
                                                *brought(number, element_type, source)))
                    support.assert_switches_reduce(self, document)
            document = self.check(lab, (*ONCE, "--algorithm", "canary", "-r", "5",
                                        *brought(1, *EXPRESSIONS[1])), collective="reduce")
            support.assert_switches_reduce(self, document)
            self.assertNotIn("no_handler", lab.drops())
            lab.assert_balanced(self)

    def test_flare(self):
        with handler_lab.directory() as home, \
                support.Lab("fat-tree-8", *FLARE, *handler_lab.allowed(home)) as lab, \
                job(lab, "--algorithm", "flare"):
            for number, element_type, source in self.every_one(lab, home):
                with self.subTest(source):
                    before = summed(lab, "flare")
                    self.check(lab, (*ONCE, "--algorithm", "flare", "--fallback", "error",
                                     *brought(number, element_type, source)))
                    self.assertGreater(summed(lab, "flare"), before)
            self.assertNotIn("no_handler", lab.drops())
            lab.assert_balanced(self)

    def sketched_again(self, topology: str) -> None:
        with handler_lab.directory() as home, \
                support.Lab(topology, *FLARE, *handler_lab.allowed(home)) as lab, \
                job(lab, "--algorithm", "flare"), \
                mock.patch.dict(os.environ, {"TRIBUTARY_FALLBACK": "error"}):
            file = home / "sketch_merge.so"
            handler_lab.load(lab, 5, file)
            before = summed(lab, "flare")
            said = lab.tool("run", "--build-dir", support.BUILD, "--program", SKETCH_MERGE, "--", 5, file)
            self.assertGreater(summed(lab, "flare"), before)
            self.assertNotIn("no_handler", lab.drops())
            lab.assert_balanced(self)
        algorithm, again, once = said.split()
        self.assertEqual(algorithm, "flare", said)
        self.assertGreater(float(again), float(once), said)
        self.assertLess(float(again), 1.5 * float(once), said)

    def test_sketches_that_switches_decode_and_sketch_again(self):
        for topology in ("star-4", "fat-tree-8"):
            with self.subTest(topology):
                self.sketched_again(topology)

    def test_panama_leaves_them_to_the_hosts(self):
        with support.Lab("star-4") as lab, job(lab):
            handler_lab.load(lab, 1, CAPPED, "i8")
            document = self.check(lab, (*ONCE, "--algorithm", "panama",
                                        *brought(1, "i8", CAPPED)))
            self.assertGreater(document["statistics"]["collectives_by_ring"], 0)

    def test_a_switch_without_the_handler(self):
        with support.Lab("fat-tree-8") as lab:
            handler_lab.load(lab, 2, CAPPED, "i16")
            for number in (1, 2):
                with self.subTest(number):
                    before = lab.drops().get("no_handler", 0)
                    measured = ("--counts", "10007", "-n", "1", "-w", "0", "--algorithm", "canary",
                                *brought(number, "i8", CAPPED))
                    document = self.check(lab, measured)
                    self.assertGreater(document["statistics"]["blocks_by_hosts"], 0)
                    self.assertGreater(lab.drops().get("no_handler", 0), before)
                    self.refused(lab, number, *measured)
            lab.assert_balanced(self)

    def refused(self, lab: support.Lab, number: int, *measured) -> None:
        """Where the hosts must not combine in the place of the switches."""
        bench = lab.bench(*measured, "--fallback", "error", deadline_s=60)
        self.assertNotEqual(bench.end(), 0)
        self.assertIn(f"different handlers under number {number}", bench.said)


class DifferentHandlers(unittest.TestCase):
    """Of leaf3 that under the number is another one."""

    def setUp(self):
        self.lab = self.enterContext(support.Lab(*support.SPLIT_FABRIC, *FLARE))
        faults.await_sessions(self.lab)
        for daemon in faults.DAEMONS:
            handler_lab.load(self.lab, 1, "acc = max(acc, in);" if daemon == "leaf3" else CAPPED,
                             "i8", daemon=daemon)

    def marks(self) -> set[str]:
        return {handler_lab.listed(self.lab, daemon)[1]["mark"] for daemon in faults.DAEMONS}

    def mend(self) -> None:
        handler_lab.unload(self.lab, 1, daemon="leaf3")
        handler_lab.load(self.lab, 1, CAPPED, "i8", daemon="leaf3")

    def test_canarys_hosts_combine_in_its_place(self):
        measured = (*ONCE, "--algorithm", "canary", *brought(1, "i8", CAPPED))
        self.assertEqual(len(self.marks()), 2)
        document = self.lab.reduce(*measured)
        self.assertEqual(support.wrong(document), 0)
        self.assertGreater(document["statistics"]["fingerprint_rejections"], 0)
        self.mend()
        self.assertEqual(len(self.marks()), 1)
        document = self.lab.reduce(*measured)
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)

    def test_flares_ranks_say_so(self):
        measured = (*ONCE, "--algorithm", "flare", "--fallback", "error",
                    *brought(1, "i8", CAPPED))
        with job(self.lab, "--algorithm", "flare"):
            bench = self.lab.bench(*measured, deadline_s=15)
            self.assertNotEqual(bench.end(), 0)
            self.assertIn("different handlers under number 1", bench.said)
            self.mend()
            self.assertEqual(support.wrong(self.lab.reduce(*measured)), 0)


class BesideOthers(unittest.TestCase):
    OTHERS = "l1h2,l2h2,l3h2,l4h2"
    OURS = "l1h1,l2h1,l3h1,l4h1"

    @contextlib.contextmanager
    def unharmed(self, lab: support.Lab):
        """A job without handlers, by the same switches."""
        bench = lab.bench(*LONG, "-d", "i32", "--algorithm", "canary", hosts=self.OTHERS, port=29600)
        try:
            yield
            document = bench.finish()
            self.assertEqual(support.wrong(document), 0)
            self.assertGreater(document["statistics"]["switch_sums_seen"], 0)
        finally:
            bench.stop()


class Unloading(BesideOthers):
    """While packets are on their way that need it."""

    def misses_it(self, lab: support.Lab, bench: support.Bench) -> bool:
        """A packet of `bench` does, unless that is over before its handler is unloaded."""
        def missed() -> int:
            return lab.drops().get("no_handler", 0)

        before = missed()
        handler_lab.unload(lab, 1)
        self.assertNotIn(1, handler_lab.listed(lab))
        support.until(lambda: missed() > before or not bench.running(), what="a packet")
        handler_lab.load(lab, 1, CAPPED, "i8")
        return missed() > before

    def test_canary_goes_on(self):
        with support.Lab("fat-tree-8") as lab, self.unharmed(lab):
            handler_lab.load(lab, 1, CAPPED, "i8")
            support.long_enough(lambda iterations: self.miss_it_again_and_again(lab, iterations), 300)

    def miss_it_again_and_again(self, lab: support.Lab, iterations: int) -> None:
        bench = lab.bench("-b", "64K", "-e", "64K", "-n", iterations, "-w", "0", "--algorithm", "canary", "--job", "71",
                          *brought(1, "i8", CAPPED), hosts=self.OURS)

        def contributions() -> int:
            return sum(row["contributions_total"] for row in lab.rows("job") if row["job"] == 71)

        missed = 0
        for _ in range(5):
            before = contributions()
            support.until(lambda: contributions() > before + 200 or not bench.running(),
                          what="a reduction")
            missed += self.misses_it(lab, bench)
        document = bench.finish()
        self.assertEqual(support.wrong(document), 0)
        self.assertGreater(document["statistics"]["switch_sums_seen"], 0)
        if missed < 5:
            raise support.TooEarly("it ended before its handler had gone five times")

    def test_flare_goes_on_or_says_why_not(self):
        with support.Lab("fat-tree-8", *FLARE) as lab, self.unharmed(lab), \
                job(lab, "--algorithm", "flare", "--hosts", self.OURS):
            handler_lab.load(lab, 1, CAPPED, "i8")
            flare = ("--algorithm", "flare", "--fallback", "error", *brought(1, "i8", CAPPED))
            for _ in range(10):
                before = summed(lab, "flare")
                bench = lab.bench(*LONG, *flare, hosts=self.OURS, deadline_s=20)
                support.until(lambda: summed(lab, "flare") > before + 200, what="a reduction")
                proven = self.misses_it(lab, bench)
                if bench.end() == 0:
                    self.assertEqual(support.wrong(bench.document()), 0)
                else:
                    self.assertIn("different handlers under number 1", bench.said)
                if proven:
                    break
            self.assertTrue(proven, "each run ended too early to prove anything")
            document = lab.reduce(*ONCE, *flare, hosts=self.OURS)
            self.assertEqual(support.wrong(document), 0)


class TooSlow(BesideOthers):
    """A handler that takes a multiple of what it may."""

    def test_it_is_closed_and_everybody_goes_on(self):
        with handler_lab.directory(SLOW_HANDLER) as home, \
                support.Lab("fat-tree-8", *handler_lab.allowed(home)) as lab, self.unharmed(lab):
            file = home / SLOW_HANDLER.name
            handler_lab.load(lab, 1, file)
            document = lab.reduce("--counts", "10007", "-n", "10", "-w", "0", "--algorithm", "canary",
                                  *brought(1, "i8", str(file)), hosts=self.OURS)
            self.assertEqual(support.wrong(document), 0)
            self.assertGreater(document["statistics"]["blocks_by_hosts"], 0)
            self.assertGreater(lab.drops().get("handler_too_slow", 0), 0)
            row = handler_lab.listed(lab)[1]
            self.assertTrue(row["closed"] and row["too_slow"], row)
            self.assertGreater(row["ns_per_kib"], 20000)
            support.until(lambda: self.warnings(lab) == 1, what="the warning")
            handler_lab.load(lab, 1, file)
            self.assertFalse(handler_lab.listed(lab)[1]["closed"])
            self.assertEqual(self.warnings(lab), 1)
            lab.assert_balanced(self)

    def warnings(self, lab: support.Lab) -> int:
        return sum(log.read_text().count("handler 1 was closed") for log in lab.directory.glob("*.log"))


if __name__ == "__main__":
    support.main()
