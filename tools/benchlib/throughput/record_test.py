# SPDX-License-Identifier: BSD-3-Clause
"""Tests the taking of samples, without measuring anything."""

import contextlib
import io
import itertools
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from benchlib.throughput import generator, machine, reading  # noqa: E402
from benchlib.throughput.record import Case, Record  # noqa: E402
from benchlib.throughput.suites import latency  # noqa: E402
from lablib import LabError  # noqa: E402


class Taking(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "s.json"
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        self.measured = []

    def case(self, subject: str, value: float = 1.0) -> Case:
        def measure():
            self.measured.append(subject)
            return {"value": value}
        return Case("case", subject, measure)

    def take(self, cases: list[Case], runs: int) -> Record:
        record = Record("s", {}, {})
        record.take(cases, runs, self.path)
        return record

    def test_each_run_goes_the_other_way(self):
        self.take([self.case("a"), self.case("b"), self.case("c")], 3)
        self.assertEqual("".join(self.measured), "abccbaabc")
        self.assertEqual(Record.read(self.path).subjects(), ["a", "b", "c"])

    def test_an_interrupted_run_replaces_no_results(self):
        self.take([self.case("a", 1.0)], 2)

        def interrupted():
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.take([self.case("a", 2.0), Case("case", "b", interrupted)], 2)
        self.assertEqual(Record.read(self.path).values("case", "a", "value"), [1.0, 1.0])
        part = self.path.with_suffix(".part")
        self.assertEqual(Record.read(part).values("case", "a", "value"), [2.0])

    def test_what_others_disturbed_is_counted(self):
        record = Record("s", {}, {})
        states = iter([True, False, False])
        with contextlib.redirect_stderr(io.StringIO()):
            record.take([self.case("a")], 3, self.path,
                        lambda measure: (measure(), {"good": next(states)}))
        self.assertEqual(record.disturbed(), 2)

    def test_complete_results_leave_no_part(self):
        self.take([self.case("a")], 1)
        self.assertFalse(self.path.with_suffix(".part").exists())


class Machine(unittest.TestCase):
    def test_a_loaded_machine_is_said(self):
        self.assertIn("load", machine.warning({"load": 1.5, "cpus": 2}))
        self.assertIsNone(machine.warning({"load": 0.1, "cpus": 2}))


class Neighbourhood(unittest.TestCase):
    """A machine.Neighbourhood that gets the output of cpu_state from a script."""

    CPUS = (1, 0)
    GOOD, SHARED, FAR = "16 16 100", "16 10 100", "16 16 450"

    def setUp(self):
        self.states = []
        self.enterContext(mock.patch.object(machine.processes, "output_of", self.tell))
        self.enterContext(mock.patch.object(machine.time, "sleep"))
        self.enterContext(mock.patch.object(machine.time, "monotonic",
                                            side_effect=itertools.count(step=5).__next__))
        self.taken = 0

    def tell(self, *_, **__):
        one, other, distance = self.states.pop(0).split() if self.states else self.GOOD.split()
        return mock.Mock(returncode=0, stdout=f"additions_per_ns {one}\nadditions_per_ns {other}\n"
                                              f"round_trip_ns {distance}\n")

    def take(self) -> dict[str, float]:
        self.taken += 1
        return {"value": float(self.taken)}

    def measure(self, *states: str) -> tuple[dict, dict]:
        neighbourhood = machine.Neighbourhood(pathlib.Path("cpu_state"), 20.0)
        neighbourhood.get_to_know(self.CPUS)
        self.states = list(states)
        return neighbourhood.measure(self.CPUS, self.take)

    def test_what_is_undisturbed_is_taken_once(self):
        self.assertEqual(self.measure(self.GOOD, self.GOOD),
                         ({"value": 1.0}, {"additions_per_ns": [16.0, 16.0],
                                           "round_trip_ns": 100.0, "good": True}))

    def test_nothing_is_taken_before_the_state_is_good(self):
        _, cpus = self.measure(self.SHARED, self.FAR, self.GOOD, self.GOOD)
        self.assertEqual((self.taken, cpus["good"]), (1, True))

    def test_what_was_disturbed_is_taken_again(self):
        found, _ = self.measure(self.GOOD, self.FAR, self.GOOD, self.SHARED, self.GOOD, self.GOOD)
        self.assertEqual(found["value"], 3.0)

    def test_a_state_that_stays_is_told(self):
        _, cpus = self.measure(*[self.SHARED] * 1000)
        self.assertEqual((cpus["good"], cpus["additions_per_ns"]), (False, [16.0, 10.0]))
        self.assertLess(self.taken, 100)


class Latency(unittest.TestCase):
    def test_a_trial_that_failed_is_no_rate(self):
        document = {"best": None, "trials": [{"done_per_second": 1e6}]}
        setting = mock.Mock(quick=False, directory=pathlib.Path("/tmp"))
        with mock.patch.object(generator, "run", return_value=document):
            with self.assertRaises(LabError):
                latency.search(setting)


class Gains(unittest.TestCase):
    def read(self, *counts: int):
        rest = iter(counts)
        return lambda: {"done": next(rest), "other": 0}

    def test_what_had_no_cpu_is_waited_for(self):
        found = reading.gain(self.read(5, 5, 8, 50_008), os.getpid(), 0, 0.001, "done")
        self.assertEqual(found.counters["done"], 50_003)
        self.assertGreaterEqual(found.seconds, 0.003)

    def test_what_stands_still_is_an_error(self):
        with mock.patch.object(reading, "_PATIENCE_S", 0.0), \
                self.assertRaisesRegex(LabError, "done went up by 0 in"):
            reading.gain(itertools.repeat({"done": 5}).__next__, os.getpid(), 0, 0.001, "done")


if __name__ == "__main__":
    unittest.main(verbosity=2)
