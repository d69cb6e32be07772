# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's ranks in hosts of their own: gradients that the switch adds up, and what fails while they train."""

import contextlib
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import support
from experiment_case import ExperimentCase
from panama_job import job

# Debian's, which has torch.
PYTHON = "/usr/bin/python3"
PACKAGE = support.BUILD / "src" / "bindings" / "python"
TRAIN = support.ROOT / "examples" / "pytorch" / "train.py"
SKETCHED = TRAIN.with_name("train_sketched.py")
LAYERS = TRAIN.with_name("layers.py")
WORKER = pathlib.Path(__file__).resolve().parent / "pytorch_worker.py"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
# What a rank spends most of its time with in a short training is reading all images.
FEW_IMAGES = 4096
# A training has many steps, and four ranks that share a processor with others take long for each.
LIMIT_S = 5 * int(support.PATIENCE_S)
# More steps than any test waits for.
ENDLESS = 1_000_000


def digests(said: str) -> list[str]:
    """Of the parameters of each rank."""
    return re.findall(r"parameters (\w+)", said)


def write_few_images(folder: pathlib.Path) -> None:
    """The first ones of FASHION, in its format."""
    for name, of_each, header in (("images-idx3", 28 * 28, 16), ("labels-idx1", 1, 8)):
        for part in ("train", "t10k"):
            file = f"{part}-{name}-ubyte.gz"
            with gzip.open(FASHION / file) as whole:
                (folder / file).write_bytes(gzip.compress(whole.read(header + FEW_IMAGES * of_each)))


class Training:
    """One that is in the middle of its steps."""

    def __init__(self, child: subprocess.Popen, complaints: pathlib.Path):
        self._child = child
        self._complaints = complaints

    def await_step(self) -> None:
        """The next of those that are told."""
        for line in self._child.stdout:
            if line.startswith("step "):
                return
        raise AssertionError(f"no step any more: {self.complaints()}")

    def complaints(self) -> str:
        return self._complaints.read_text()

    def end(self) -> tuple[int, str]:
        """Its exit code, and all that is said from now on."""
        said, _ = self._child.communicate(timeout=LIMIT_S)
        return self._child.returncode, said + self.complaints()


class PyTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("star-4", "--rate", "none").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.images = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        if FASHION.is_dir():
            write_few_images(cls.images)

    def command(self, *arguments) -> list[str]:
        return [str(word) for word in (
            support.LAB, "run", self.lab.name, "--program", PYTHON, "--time-limit",
            LIMIT_S - 20, "--", *arguments)]

    def example(self, *arguments, script: pathlib.Path = TRAIN) -> tuple:
        return "-m", "tributary.torch", script, "--data", self.images, *arguments

    def environment(self, **variables) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1",
                             "OMP_NUM_THREADS": "1", "TRIBUTARY_ALGORITHM": "canary"} | variables

    def run_ranks(self, *arguments, **variables):
        return support.run(*self.command(*arguments), timeout=LIMIT_S, env=self.environment(**variables))

    @contextlib.contextmanager
    def training(self, steps: int, *arguments, script: pathlib.Path = TRAIN, **variables):
        with tempfile.NamedTemporaryFile("w+") as complaints:
            child = subprocess.Popen(
                self.command(*self.example("--steps", steps, *arguments, script=script)), text=True,
                env=self.environment(**variables), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=complaints)
            with child:
                try:
                    training = Training(child, pathlib.Path(complaints.name))
                    training.await_step()
                    yield training
                finally:
                    child.kill()

    def assert_told_by_all_but_the_last(self, training: Training, why: str) -> None:
        """All end by themselves, before tools/lab has them end."""
        code, said = training.end()
        self.assertNotEqual(code, 0, said)
        self.assertNotRegex(said, "lab: .*; ending ")
        told = set(re.findall(rf"(?m)^(h\d): RuntimeError: .*{why}", said))
        self.assertLessEqual({"h1", "h2", "h3"}, told, said)

    def test_the_switch_adds_tensors_up(self):
        done = self.run_ranks(WORKER, "sums")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["algorithm"], "canary")
        support.assert_switches_reduce(self, document)
        self.lab.assert_balanced(self)

    def test_averages_of_sums_that_lack_ranks_are_of_those_that_are_in_them(self):
        with job(self.lab, more="share = 0.75\n"):
            done = self.run_ranks(WORKER, "averages", TRIBUTARY_ALGORITHM="panama", TRIBUTARY_FALLBACK="error")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.lab.assert_balanced(self)

    def train(self, *arguments, script: pathlib.Path = TRAIN, **variables) -> str:
        """The digest of the parameters, of which all ranks have the same."""
        done = self.run_ranks(*self.example(*arguments, script=script), **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = digests(done.stdout + done.stderr)
        self.assertEqual((len(found), len(set(found))), (4, 1), done.stderr)
        return found[0]

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_the_example_trains_alike_on_all_ranks(self):
        done = self.run_ranks(*self.example("--steps", 30))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 ranks: canary, switches reduce on the way", done.stderr)
        found = digests(done.stdout + done.stderr)
        self.assertEqual((len(found), len(set(found))), (4, 1), found)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_reproducible_trainings_end_with_the_same_bits(self):
        """Whatever carries them."""
        self.assertEqual(len({self.train("--steps", 15, TRIBUTARY_REPRODUCIBLE="1", TRIBUTARY_ALGORITHM=algorithm)
                              for algorithm in ("canary", "canary", "ring")}), 1)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_hooks_train_alike_on_all_ranks(self):
        for hook in (("bf16",), ("sketch",), ("sketch", "--bits", 4), ("sketch", "--bits", 32, "--low-rank", 4),
                     ("sketch", "--bits", 8, "--low-rank", 4)):
            with self.subTest(hook=hook):
                self.train("--steps", 8, "--hook", *hook, script=SKETCHED)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_layers_are_told_of_one_by_one(self):
        done = self.run_ranks(LAYERS, "--steps", 4, "--data", self.images)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = digests(done.stdout + done.stderr)
        self.assertEqual((len(found), len(set(found))), (4, 1), done.stdout)
        rows = [line.split(" | ") for line in done.stdout.splitlines() if re.match(r"\| \d", line)]
        self.assertEqual([row[0] for row in rows[:8]], [row[0] for row in rows[8:]], done.stdout)
        came = [float(row[2]) for row in rows[:8]]
        self.assertEqual(came, sorted(came, reverse=True), "the last layers' gradients come first")

    def test_a_rank_that_dies_has_its_number_told(self):
        done = self.run_ranks(WORKER, "die")
        self.assertNotEqual(done.returncode, 0)
        told = re.findall(r"all_reduce of 100000 Float \(sum\) on rank (\d) of 4 failed: .*rank 3 has ended",
                          done.stderr)
        self.assertEqual(sorted(told), ["0", "1", "2"], done.stderr)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_a_rank_that_is_killed_in_mid_epoch_ends_the_training(self):
        for hook in ("none", "sketch"):
            with self.subTest(hook=hook), \
                 self.training(ENDLESS, "--hook", hook, script=SKETCHED) as training:
                [rank] = self.lab.processes("h4", "python3")
                os.kill(rank, signal.SIGKILL)
                self.assert_told_by_all_but_the_last(training, "rank 3 has ended")

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_a_training_goes_on_when_its_switch_comes_back(self):
        def switch_crashes():
            self.lab.tool("kill", "star-4")
            time.sleep(1.0)
            self.lab.tool("restart", "star-4")
        self.assert_goes_on_after(switch_crashes)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_a_training_goes_on_when_a_cable_is_plugged_in_again(self):
        def cable_is_pulled():
            self.lab.tool("link", "h4", "down")
            try:
                time.sleep(2.0)
            finally:
                self.lab.tool("link", "h4", "up")
        self.assert_goes_on_after(cable_is_pulled)

    def assert_goes_on_after(self, fault) -> None:
        with self.training(250) as training:
            fault()
            training.await_step()  # after it
            code, said = training.end()
        self.assertEqual(code, 0, said)
        found = digests(said)
        self.assertEqual((len(found), len(set(found))), (4, 1), said)

    @unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
    def test_a_cable_that_stays_pulled_ends_the_training_by_its_time_limit(self):
        for hook in ("none", "sketch"):
            with self.subTest(hook=hook), \
                 self.training(ENDLESS, "--hook", hook, script=SKETCHED,
                               TRIBUTARY_STALL_TIMEOUT="30s") as training:
                self.lab.tool("link", "h4", "down")
                try:
                    self.assert_told_by_all_but_the_last(training, "rank 3")
                finally:
                    self.lab.tool("link", "h4", "up")


@unittest.skipUnless(FASHION.is_dir(), "needs Debian's dataset-fashion-mnist")
class Measured(ExperimentCase):
    limit_s = 6 * LIMIT_S  # so many trainings

    def test_trainings_in_turns_and_their_plot(self):
        said = self.run_tool("bench-training", "--ways", "alone,gloo,canary", "--rates", "500Mbit,1Gbit", "--runs", 1,
                             "--steps", 4, "--width", 16, "--batch", 8, "--target", 0.01, "--time-limit", LIMIT_S,
                             "--output", self.output)
        self.assertIn("% communicating", said)
        self.assertIn("s to 0.01", said)
        samples = json.loads((self.output / "results.json").read_text())["samples"]
        self.assertEqual([(sample["rate"], sample["way"]) for sample in samples],
                         [(rate, way) for rate in ("500Mbit", "1Gbit") for way in ("alone", "gloo", "canary")])
        for sample in samples:
            self.assertEqual(list(sample["losses"]), ["1", "2", "3", "4"])
            seconds, reached = zip(*sample["course"])
            self.assertEqual((len(seconds), list(seconds)), (4, sorted(seconds)))
            self.assertTrue(all(0 <= share <= 1 for share in reached), reached)
        gloo, canary = (sample["losses"] for sample in samples[1:3])
        for step, loss in gloo.items():
            self.assertAlmostEqual(canary[step], loss, delta=0.01)
        self.require_plots()
        self.assertGreater((self.output / "training.svg").stat().st_size, 1000)


if __name__ == "__main__":
    if not list(PACKAGE.glob("tributary/_torch*.so")):
        support.skip("the backend for PyTorch was not built: tools/install-packages pytorch")
    support.main()
