# SPDX-License-Identifier: BSD-3-Clause
"""Reductions through ports of other kinds than one packet socket: AF_XDP, several queues, jumbo frames."""

import os
import unittest

import support

# Around the ends of packets, and one that takes some hundreds of them.
COUNTS = "0,1,353,10007,300007"


class Ports(unittest.TestCase):
    def reduce(self, *options: str) -> dict:
        """Every element of every type; what comes out must be exact, and the switch's books right."""
        with support.Lab("star-4", "--rate", "none", *options) as lab:
            document = lab.reduce("-d", "all", "-o", "sum", "--counts", COUNTS, "-n", "1", "-w", "0")
            self.assertEqual(support.wrong(document), 0)
            lab.assert_balanced(self)
            self.handed_over = [core["handed_over_packets_total"]
                                for core in lab.ctl_json("status")["cores"]]
            self.devices = [row["device"] for row in lab.rows("port")]
            for row in lab.rows("port"):
                self.assertGreater(row["counters"]["rx_packets_total"], 100, row)
        return document

    def refusal(self, *options: str) -> str:
        done = support.run(support.LAB, "up", "star-4", "--name", f"t{os.getpid()}-refused",
                           "--build-dir", support.BUILD, *options)
        if done.returncode == 0:
            support.run(support.LAB, "down", f"t{os.getpid()}-refused")
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_af_xdp(self):
        self.reduce("--set", "switch.port.driver=af_xdp")
        self.assertTrue(all(device.startswith("af_xdp ") for device in self.devices), self.devices)

    def test_af_xdp_says_what_it_cannot(self):
        driver = ("--set", "switch.port.driver=af_xdp")
        self.assertIn("an MTU of at most", self.refusal(*driver, "--mtu", "9000"))
        self.assertIn("make queues smaller", self.refusal(*driver, "--set", "switch.port.queues=2"))

    def test_two_queues_on_two_cores(self):
        self.reduce("--cores", "0,1", "--set", "switch.port.queues=2")
        self.assertEqual(len(self.handed_over), 2)
        self.assertGreater(min(self.handed_over), 100)

    def test_two_queues_with_one_shaper(self):
        self.reduce("--cores", "0,1", "--set", "switch.port.queues=2",
                    "--set", "switch.port.rate=200Mbit")

    def test_frames_of_nine_thousand_bytes(self):
        document = self.reduce("--cores", "0,1", "--set", "switch.port.queues=2", "--mtu", "9000")
        # Headers, and the largest multiple of 64 bytes that is left.
        self.assertEqual(document["payload_bytes_max"], (9000 - 20 - 8 - 64) // 64 * 64)


if __name__ == "__main__":
    support.main()
