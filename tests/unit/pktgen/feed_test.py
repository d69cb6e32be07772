#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A switch that is fed in one process adds up all that comes: feed_test.py PKTGEN. How fast is not judged."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
IN_FLIGHT = 2048  # packets of blocks that are begun and not done, when the switch is asked
TIMEOUT_S = 300
# A busy machine may not come to it at first.
DURATIONS = ("300ms", "3s", "15s")

PKTGEN = ""

HEAD = """version = 1
[daemon]
cores = "auto"
idle = "poll"
hugepages = "never"
[[switch]]
name = "s"
id = 1
address = "10.255.0.1"
"""

ROUTED = """[[switch.port]]
name = "feed"
address = "10.1.1.1/24"
mac = "02:00:00:01:00:01"
pcap = {{ rx = "{file}", infinite = true }}
"""

BRIDGED = """[[switch.port]]
name = "feed{number}"
pcap = {{ rx = "{file}", infinite = true }}
"""


def pktgen(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([PKTGEN, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=TIMEOUT_S)


class Feed(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.directory / "x.pcap"

    def write(self, kind: str, *options) -> str:
        """The file; what the switch needs for it."""
        done = pktgen("pcap", kind, "--file", self.file, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def feed(self, switch: str, *options) -> subprocess.CompletedProcess:
        config = self.directory / "switch.toml"
        config.write_text(HEAD + switch)
        return pktgen("feed", "--config", config, "--warm-up", "100ms", "--json", "-", *options)

    def fed(self, switch: str) -> dict[str, int]:
        """What its engine counted; nothing was dropped."""
        for duration in DURATIONS:
            done = self.feed(switch, "--duration", duration)
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["drops"], [])
        self.assertEqual(found["bursts_without_buffers"], 0)
        self.assertGreater(found["cycles_per_packet"], 0)
        return {row["name"]: row["gain"] for row in found["figures"]}

    def canary(self) -> str:
        """A switch that eight workers feed."""
        neighbours = self.write("canary", "--workers", 8, "--blocks", 64, "--interleave", 64,
                                "--address", "10.1.1.2", "--gateway-mac", "02:00:00:01:00:01",
                                "--switch", "10.255.0.1")
        return "[switch.canary]\ndescriptors = 1024\n" + ROUTED.format(file=self.file) + neighbours

    def test_every_block_of_canary_gets_its_result(self):
        found = self.fed(self.canary())
        self.assertAlmostEqual(found["contributions_total"], 7 * found["results_total"],
                               delta=IN_FLIGHT)

    def test_workers_of_panama_stay_in_step(self):
        trees = self.write("panama", "--workers", 4, "--jobs", 16, "--collective", 4)
        ports = "".join(BRIDGED.format(number=n, file=self.file.with_suffix(f".{n}.pcap"))
                        for n in range(4))
        found = self.fed(ports + "[switch.panama]\npacket_memory = 128\n" + trees)
        self.assertAlmostEqual(found["contributions_total"], 4 * found["results_total"],
                               delta=IN_FLIGHT)

    def test_workers_of_flare_stay_in_step(self):
        trees = self.write("flare", "--workers", 4, "--jobs", 16, "--blocks", 4, "--window", 4)
        ports = "".join(BRIDGED.format(number=n, file=self.file.with_suffix(f".{n}.pcap"))
                        for n in range(4))
        found = self.fed(ports + "[switch.flare]\n" + trees)
        self.assertAlmostEqual(found["contributions_total"], 4 * found["results_total"],
                               delta=IN_FLIGHT)

    def test_workers_of_flare_stay_in_step_with_sparse_blocks(self):
        trees = self.write("flare", "--workers", 4, "--jobs", 8, "--blocks", 4, "--window", 4,
                           "--density", 0.05, "--pairs", 20)
        ports = "".join(BRIDGED.format(number=n, file=self.file.with_suffix(f".{n}.pcap"))
                        for n in range(4))
        found = self.fed(ports + "[switch.flare]\n" + trees)
        self.assertAlmostEqual(found["sparse_contributions_total"], 4 * found["sparse_sums_total"],
                               delta=IN_FLIGHT)

    def test_every_gradient_of_netreduce_goes_on(self):
        rings = self.write("netreduce", "--workers", 4, "--address", "10.1.1.2", "--gateway-mac",
                           "02:00:00:01:00:01")
        found = self.fed(ROUTED.format(file=self.file) + rings)
        self.assertAlmostEqual(found["gradients_total"], found["results_total"], delta=IN_FLIGHT)

    def test_what_cannot_be_fed_is_refused(self):
        (self.directory / "empty.pcap").write_bytes(b"")
        empty = ROUTED.format(file=self.directory / "empty.pcap")
        missing = ROUTED.format(file=self.directory / "missing.pcap")
        for switch, words in [(empty, "empty.pcap"), (missing, "missing.pcap"),
                              ("[[switch.port]]\nname = \"r\"\nring = \"r\"\n", "infinite"),
                              ("[[switch.port]]\nname = \"r\"\n", "switch.toml")]:
            done = self.feed(switch)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.feed(empty, "--descriptors", 500).returncode, 2)

    def test_a_report_that_cannot_be_written_is_refused_before_the_feed(self):
        done = pktgen("feed", "--config", self.directory / "switch.toml", "--json",
                      self.directory / "missing" / "x.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write --json", done.stderr)

    def test_a_feed_that_is_interrupted_tells_of_what_it_has_measured(self):
        config = self.directory / "switch.toml"
        config.write_text(HEAD + self.canary())
        for seconds in (2, 10, 60):
            fed = subprocess.Popen([PKTGEN, "feed", "--config", config, "--warm-up", "1ms", "--json",
                                    "-", "--duration", "1h"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(seconds)
            fed.send_signal(signal.SIGINT)
            out, errors = fed.communicate(timeout=TIMEOUT_S)
            if fed.returncode == 0:
                break
        self.assertEqual(fed.returncode, 0, errors)
        self.assertGreater(json.loads(out)["seconds"], 0)


if __name__ == "__main__":
    PKTGEN = sys.argv.pop(1)
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: a switch and its feeder take two CPUs")
        sys.exit(SKIPPED)
    unittest.main()
