# SPDX-License-Identifier: BSD-3-Clause
"""Flow control between two switches: what hosts send too much of is lost before the first one's
cable, and nothing behind it."""

import contextlib
import pathlib
import signal
import subprocess
import time
import unittest

import support

LAB = pathlib.Path(__file__).resolve().parent / "pause" / "lab.toml"
SLOW, QUICK = "10.2.1.2", "10.2.2.2"
CS7 = 56 << 2
# Of another priority than the class selector of its packets says.
LOSSLESS_CLASS = ('switch.class=[{name="sums", dscp="cs7", pfc_priority=5}, {name="rest"}]')
TRIES = 3  # on a machine that is busy otherwise
SETTLED_S = 5
# Sends full frames in a class, at a rate in Mbit/s, until it is told to end; then says how many.
BLAST = """
import signal, socket, sys, time
address, tos, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]) * 1e6
going = True
def end(*_):
    global going
    going = False
signal.signal(signal.SIGTERM, end)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
begun, sent = time.monotonic(), 0
while going:
    due = (time.monotonic() - begun) * rate / (1500 * 8)
    while going and sent < due:
        s.sendto(bytes(1472), (address, 9))
        sent += 1
    time.sleep(0.001)
print(sent)
"""


class Pause(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab(str(LAB), name="pause").__enter__()
        self.addCleanup(self.lab.__exit__)
        for host, address in (("sender", SLOW), ("other", QUICK)):
            self.lab.await_path(host, address)

    def control(self, mode: str, *more: str) -> None:
        settings = (f"flow_control={mode}", *more)
        self.lab.tool("reload", *(word for setting in settings
                                  for word in ("--set", f"switch.port[flow_control].{setting}")))

    def ports(self) -> dict:
        return {(row["switch"], row["port"]): row for row in self.lab.rows("port")}

    def begin_counting(self) -> None:
        """While nothing is on its way: the two switches are asked one after the other."""
        self.await_rest()
        self.before = self.at_rest

    def counted(self, ports: dict | None = None) -> dict:
        """What the ports counted since, until now or then."""
        return {port: {key: value - self.before[port]["counters"][key]
                       for key, value in row["counters"].items()}
                for port, row in (ports or self.ports()).items()}

    def await_count(self, switch: str, port: str, counter: str, more_than: float) -> None:
        support.until(lambda: self.counted()[switch, port][counter] > more_than,
                      what=f"{counter} of {switch}:{port} above {more_than}")

    @contextlib.contextmanager
    def blast(self, host: str, address: str, tos: int, rate: float):
        child = subprocess.Popen(
            self.lab.command(host, "python3", "-c", BLAST, address, tos, rate),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        try:
            yield child
        finally:
            child.terminate()
            child.wait()

    def await_rest(self) -> None:
        """What is on its way arrives, and the neighbour may go on."""
        def rests() -> bool:
            self.at_rest = self.ports()
            time.sleep(0.5)
            return self.at_rest == self.ports() and all(
                row["queue_packets"] == 0 and not row["paused"] for row in self.at_rest.values())
        support.until(rests, what="an end of the traffic")

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

    def await_overload(self) -> None:
        """The first switch is held back, and hosts do not care."""
        self.await_count("near", "far", "queue_tail_dropped_packets_total", 100)
        self.await_count("near", "far", "paused_seconds_total", 1)
        self.await_count("far", "near", "tx_pause_packets_total", 10)

    def test_nothing_is_lost_between_switches(self):
        self.begin_counting()
        with self.blast("sender", SLOW, 0, 40):
            self.await_overload()
            support.until(lambda: self.ports()["far", "near"]["charged_bytes"] > 50_000)
            self.await_count("far", "slow", "tx_packets_total", 2000)
        self.await_rest()
        counted = self.counted(self.at_rest)
        self.assertEqual(self.losses_behind_the_first(counted), 0, counted)
        self.assertEqual(counted["far", "near"]["tx_pause_packets_total"],
                         counted["near", "far"]["rx_pause_packets_total"])
        self.assertEqual(self.ports()["far", "near"]["charged_bytes"], 0)
        self.lab.assert_balanced(self)

    def test_without_it_the_second_switch_drops(self):
        self.control("off")
        self.begin_counting()
        with self.blast("sender", SLOW, 0, 40):
            self.await_count("far", "slow", "queue_tail_dropped_packets_total", 100)
        self.assertEqual(self.counted()["near", "far"]["rx_pause_packets_total"], 0)

    def trickle(self, frames: int) -> int:
        """So many and a few more to the quick line, beside those for the slow one; how many."""
        before = self.counted()["near", "other"]["rx_packets_total"]
        with self.blast("other", QUICK, 0, 2) as child:
            self.await_count("near", "other", "rx_packets_total", before + frames)
            return int(support.end(child, signal.SIGTERM))

    def trickles_past(self) -> bool:
        """All of it, past what waits and is lost. A sender that was held up makes up for it with
        more at once than the first switch has room for, which promises hosts nothing."""
        before = self.counted()["far", "quick"]["tx_packets_total"]
        sent = self.trickle(500)
        arrived = seen = -1
        while arrived != (seen := self.counted()["far", "quick"]["tx_packets_total"] - before):
            arrived = seen
            time.sleep(SETTLED_S)
        return arrived >= sent

    def assert_one_waits_and_another_flows(self):
        self.begin_counting()
        with self.blast("sender", SLOW, CS7, 40):
            self.await_overload()
            self.assertTrue(any(self.trickles_past() for _ in range(TRIES)))
        self.await_rest()
        counted = self.counted(self.at_rest)
        self.assertEqual(self.losses_behind_the_first(counted), 0, counted)

    def test_one_class_waits_and_another_flows(self):
        self.control("pfc")
        self.assert_one_waits_and_another_flows()

    def test_only_the_priorities_that_are_named_are_held_back(self):
        self.control("pfc", 'pfc_priorities="7"')
        self.begin_counting()
        with self.blast("sender", SLOW, 0, 40):
            self.await_count("far", "slow", "queue_tail_dropped_packets_total", 100)
        self.assertEqual(self.counted()["near", "far"]["rx_pause_packets_total"], 0)
        self.await_rest()
        self.begin_counting()
        with self.blast("sender", SLOW, CS7, 40):
            self.await_overload()
        self.await_rest()
        counted = self.counted(self.at_rest)
        self.assertEqual(self.losses_behind_the_first(counted), 0, counted)

    def test_a_lossless_class_waits_and_another_flows(self):
        self.lab.tool("reload", "--set", "switch.port[flow_control].flow_control=pfc",
                      "--set", LOSSLESS_CLASS)
        self.assertEqual(self.ports()["far", "near"]["thresholds"]["pfc_priorities"], [5])
        self.assert_one_waits_and_another_flows()
        behind = {row["class"]: row for row in self.lab.rows("class")
                  if (row["switch"], row["port"]) == ("far", "slow")}
        self.assertEqual(behind["sums"]["pfc_priority"], 5)
        self.assertGreater(behind["sums"]["tx_packets_total"], 100)
        self.lab.assert_balanced(self)

    def test_without_classes_all_wait(self):
        self.begin_counting()
        with self.blast("sender", SLOW, CS7, 40):
            self.await_overload()
            sent = self.trickle(500)
        self.await_rest()
        counted = self.counted(self.at_rest)
        self.assertEqual(self.losses_behind_the_first(counted), 0, counted)
        self.assertLess(counted["far", "quick"]["tx_packets_total"], sent)


if __name__ == "__main__":
    support.main()
