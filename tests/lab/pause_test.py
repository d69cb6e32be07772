# SPDX-License-Identifier: BSD-3-Clause
"""Flow control between two switches: what hosts send too much of is lost before the first one's
cable, and nothing behind it."""

import contextlib
import pathlib
import tempfile
import time
import unittest

import support

LAB = pathlib.Path(__file__).resolve().parent / "pause" / "lab.toml"
SLOW, QUICK = "10.2.1.2", "10.2.2.2"
SECONDS = 4
# Sends full frames in a class, at a rate in Mbit/s; then says how many.
BLAST = """
import os, socket, sys, time
address, tos, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) * 1e6
seconds, file = float(sys.argv[4]), sys.argv[5]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
begun, sent = time.monotonic(), 0
while time.monotonic() < begun + seconds:
    due = (time.monotonic() - begun) * rate / (1500 * 8)
    while sent < due:
        s.sendto(bytes(1472), (address, 9))
        sent += 1
    time.sleep(0.001)
with open(file + ".new", "w") as out:
    out.write(str(sent))
os.rename(file + ".new", file)
"""


class Pause(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab(str(LAB), name="pause").__enter__()
        self.addCleanup(self.lab.__exit__)
        for address in (SLOW, QUICK):
            self.assertIn(" 0% packet loss",
                          self.lab.exec("sender", "ping", "-c", "2", address).stdout)

    def control(self, mode: str) -> None:
        self.lab.tool("reload", "--set", f"switch.port[flow_control].flow_control={mode}")

    def ports(self) -> dict:
        return {(row["switch"], row["port"]): row for row in self.lab.rows("port")}

    def blast(self, *flows) -> dict:
        """What the ports counted meanwhile, and their rows at the end."""
        before = self.ports()
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        files = [directory / str(number) for number in range(len(flows))]
        with contextlib.ExitStack() as senders:
            for flow, file in zip(flows, files):
                senders.enter_context(self.lab.background(
                    "sender", "python3", "-c", BLAST, *flow, SECONDS, file))
            time.sleep(SECONDS / 2)
            during = self.ports()
            support.until(lambda: all(file.exists() for file in files))
        self.sent = [int(file.read_text()) for file in files]
        # What is on its way arrives, and the neighbour may go on.
        support.until(lambda: all(row["queue_packets"] == 0 and not row["paused"]
                                  for row in self.ports().values()))
        after = self.ports()
        return {port: {key: value - before[port]["counters"][key]
                       for key, value in after[port]["counters"].items()} |
                      {"charged_bytes": during[port]["charged_bytes"]}
                for port in after}

    def losses_behind_the_first(self, counted: dict) -> int:
        """Frames that were lost on the cable or in the second switch."""
        near, far = counted["near", "far"], counted["far", "near"]
        lost = near["tx_packets_total"] - far["rx_packets_total"] + far["rx_missed_packets_total"]
        lost += near["tx_device_dropped_packets_total"] + near["pause_dropped_packets_total"]
        for (switch, _), port in counted.items():
            if switch == "far":
                lost += port["queue_tail_dropped_packets_total"]
                lost += port["tx_device_dropped_packets_total"]
        return lost

    def test_nothing_is_lost_between_switches(self):
        counted = self.blast((SLOW, 0, 40))
        self.assertEqual(self.losses_behind_the_first(counted), 0, counted)
        near, far = counted["near", "far"], counted["far", "near"]
        self.assertGreater(near["queue_tail_dropped_packets_total"], 100, "hosts do not obey")
        self.assertGreater(far["tx_pause_packets_total"], 10)
        self.assertEqual(far["tx_pause_packets_total"], near["rx_pause_packets_total"])
        self.assertGreater(near["paused_seconds_total"], SECONDS / 2)
        self.assertGreater(far["charged_bytes"], 50_000)
        # The slow line was busy all the time: 10 Mbit/s, 1538 bytes a frame.
        sent = counted["far", "slow"]["tx_packets_total"]
        self.assertGreater(sent, 0.9 * SECONDS * 10e6 / (1538 * 8))
        self.assertEqual(self.ports()["far", "near"]["charged_bytes"], 0)
        self.lab.assert_balanced(self)

    def test_without_it_the_second_switch_drops(self):
        self.control("off")
        counted = self.blast((SLOW, 0, 40))
        self.assertGreater(counted["far", "slow"]["queue_tail_dropped_packets_total"], 100)
        self.assertEqual(counted["near", "far"]["rx_pause_packets_total"], 0)

    def test_one_class_waits_and_another_flows(self):
        self.control("pfc")
        counted = self.blast((SLOW, 56 << 2, 40), (QUICK, 0, 20))
        self.assertEqual(self.losses_behind_the_first(counted), 0, counted)
        self.assertGreater(counted["near", "far"]["paused_seconds_total"], SECONDS / 2)
        self.assertGreater(counted["far", "quick"]["tx_packets_total"], 0.95 * self.sent[1])
        self.control("pause")
        counted = self.blast((SLOW, 56 << 2, 40), (QUICK, 0, 20))
        self.assertEqual(self.losses_behind_the_first(counted), 0, counted)
        self.assertLess(counted["far", "quick"]["tx_packets_total"], 0.7 * self.sent[1],
                        "all classes wait")


if __name__ == "__main__":
    support.main()
