# SPDX-License-Identifier: BSD-3-Clause
"""Lossless: PANAMA at full load over shaped links with PAUSE, beside TCP that fills them, without a
drop. TRIBUTARY_LOSSLESS_SECONDS says how long."""

import contextlib
import os
import pathlib
import time
import unittest

import support
from panama_job import job

LAB = pathlib.Path(__file__).resolve().parent / "lossless" / "lab.toml"
SECONDS = float(os.environ.get("TRIBUTARY_LOSSLESS_SECONDS", 6))
WORKERS = "n1,n2,f1,f2"
SINK = "10.2.3.2"
SIZE = 256 * 1024
# What is on the way of all connections together fits into the queues: hosts do not obey PAUSE, and
# would send more than that into the first of them.
CONNECTIONS, WINDOW = 4, "64K"

# Of ports: what was lost there, for whatever reason.
LOST = ("rx_missed_packets_total", "tx_device_dropped_packets_total",
        "queue_tail_dropped_packets_total", "link_down_dropped_packets_total",
        "pause_dropped_packets_total", "impaired_lost_packets_total")


class Lossless(unittest.TestCase):
    def setUp(self):
        self.lab = support.Lab(str(LAB), name="lossless").__enter__()
        self.addCleanup(self.lab.__exit__)
        self.lab.await_path("source", SINK)

    def ports(self) -> dict:
        return {(row["switch"], row["port"]): row["counters"] for row in self.lab.rows("port")}

    def figures(self) -> dict[str, int]:
        """Of PANAMA, of both switches."""
        sums: dict[str, int] = {}
        for row in self.lab.rows("engine"):
            for name, value in row["figures"].items():
                sums[name] = sums.get(name, 0) + value
        return sums

    def drops(self) -> int:
        """But for what ends at a switch: repetitions, because who waits longer than usual behind a
        PAUSE sends again and is answered, and the hosts' IGMP reports."""
        return sum(row["packets_total"] for row in self.lab.rows("drops")
                   if row["reason"] not in ("panama_duplicate", "ip_not_for_us"))

    def every_pause_came(self) -> bool:
        ports = self.ports()
        return (ports["far", "near"]["tx_pause_packets_total"]
                == ports["near", "far"]["rx_pause_packets_total"])

    def reduction(self, iterations: int) -> support.Bench:
        return self.lab.bench("-b", SIZE, "-e", SIZE, "-n", iterations, "-w", 1,
                              "--algorithm", "panama", "--fallback", "error", hosts=WORKERS,
                              time_limit_s=4 * SECONDS + 10 * support.PATIENCE_S)

    def pace(self) -> float:
        """Seconds of an iteration."""
        row = self.reduction(4).finish()["rows"][0]
        times = [ns for place in ("out_of_place", "in_place") for ns in row[place]["times_ns"]]
        return sum(times) * 1e-9 / len(times)

    def take(self) -> tuple:
        """All that is counted, and when."""
        return time.monotonic(), self.ports(), self.figures(), self.drops()

    @contextlib.contextmanager
    def connections(self, count: int = CONNECTIONS):
        """TCP from the source to the sink, as much as its line takes."""
        def listens() -> bool:
            return ":5201" in self.lab.exec("sink", "ss", "-ltn").stdout
        with self.lab.background("sink", "iperf3", "-s"):
            support.until(listens)
            with self.lab.background("source", "iperf3", "-c", SINK, "-t", 86400,
                                     "-P", count, "-w", WINDOW):
                support.until(lambda: self.ports()["far", "sink"]["tx_packets_total"] > 1000)
                yield

    def loaded(self, before: tuple) -> bool:
        """Both got on since, also while one switch held the other back."""
        def more(counter: str, *port: str) -> float:
            return self.ports()[port][counter] - before[1][port][counter]
        return (more("tx_bytes_total", "far", "sink") > 2 << 20
                and self.figures()["results_total"] - before[2]["results_total"] > 1000
                and more("tx_pause_packets_total", "far", "near") > 10
                and more("paused_seconds_total", "near", "far") > 0.1)

    def test_not_one_drop(self):
        with job(self.lab, "--hosts", WORKERS), self.connections():
            iterations = round(min(SECONDS, 10) / self.pace())
            running = self.reduction(iterations)
            begun = self.figures()["results_total"] + 100
            support.until(lambda: self.figures()["results_total"] > begun)
            before = self.take()
            while time.monotonic() < before[0] + SECONDS or not self.loaded(before):
                time.sleep(0.1)
                self.assertLess(time.monotonic(), before[0] + SECONDS + support.PATIENCE_S)
                if not running.running():
                    self.assertEqual(support.wrong(running.finish()), 0)
                    running = self.reduction(iterations)
            after = self.take()
            self.assertEqual(support.wrong(running.finish()), 0)
        seconds = after[0] - before[0]
        ports = {port: {name: value - before[1][port][name] for name, value in counters.items()}
                 for port, counters in after[1].items()}
        figures = {name: value - before[2][name] for name, value in after[2].items()}
        self.report(seconds, ports, figures)
        self.assertEqual(after[3] - before[3], 0, self.lab.rows("drops"))
        for port, counted in ports.items():
            for name in LOST:
                self.assertEqual(counted[name], 0, port)
        self.assertEqual(figures["over_cap_total"] + figures["skipped_total"], 0)
        # Meanwhile some were on the way when one end was asked and then the other; now none is.
        support.until(self.every_pause_came)
        self.lab.assert_balanced(self)

    def test_without_flow_control_there_are_drops(self):
        self.lab.tool("reload", "--set", "switch.port[flow_control].flow_control=off")
        with self.connections(4 * CONNECTIONS):
            support.until(
                lambda: self.ports()["far", "sink"]["queue_tail_dropped_packets_total"] > 0)

    def report(self, seconds: float, ports: dict, figures: dict) -> None:
        rate = {port: 8 * ports[port]["tx_bytes_total"] / seconds / 1e6
                for port in (("near", "far"), ("far", "sink"))}
        print(f"{seconds:.1f} s: {figures['results_total']} results of switches, near to far "
              f"{rate['near', 'far']:.1f} Mbit/s, to the sink {rate['far', 'sink']:.1f} Mbit/s, "
              f"{ports['far', 'near']['tx_pause_packets_total']} PAUSE frames, "
              f"{ports['near', 'far']['paused_seconds_total']:.1f} s paused, "
              f"{sum(counted[name] for counted in ports.values() for name in LOST)} lost and "
              f"{figures['duplicates_total']} repeated of "
              f"{sum(counted['tx_packets_total'] for counted in ports.values())} frames",
              flush=True)


if __name__ == "__main__":
    support.main()
