# SPDX-License-Identifier: BSD-3-Clause
"""Utilisation of the links, from the counters of the ports."""

import threading
import time

from .fabric import LINE_OVERHEAD_BYTES, Fabric


class Sampler:
    """Reads the counters of the ports every half second, in a thread, while the context runs."""

    def __init__(self, fabric: Fabric, interval_s: float = 0.5):
        self._fabric, self._interval_s = fabric, interval_s
        self._samples: list[tuple[float, dict]] = []
        self._failure: Exception | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, kind, *_) -> None:
        self._end.set()
        self._thread.join()
        if kind is None:
            if self._failure is not None:
                raise self._failure
            self._sample_at_last()

    def _run(self) -> None:
        try:
            while True:
                self._sample()
                if self._end.wait(self._interval_s):
                    return
        except Exception as error:  # raised again at the end of the context
            self._failure = error

    def _sample(self) -> bool:
        """Returns False if the answer took so long that nobody knows of when its counters are."""
        begin = time.monotonic()
        rows = self._fabric.rows("port")
        end = time.monotonic()
        if end - begin > self._interval_s / 2:
            return False
        self._samples.append((end, {(row["switch"], row["port"]): row for row in rows}))
        return True

    def _sample_at_last(self) -> None:
        """The last sample is to be later than all traffic, and an interval behind the one before: what is carried in
        next to no time says nothing of a rate."""
        before = self._samples.pop() if len(self._samples) > 1 else None
        for _ in range(10):
            if self._sample():
                return
            time.sleep(self._interval_s / 10)
        if before:
            self._samples.append(before)

    def course(self, interfaces: set[str]) -> list[tuple[float, float]]:
        """Returns how many bit/s the ports with these interfaces took in together in each interval, and its end in
        seconds after the first sample."""
        begin = self._samples[0][0] if self._samples else 0
        return [(late - begin, sum(row["counters"]["rx_bytes_total"] - before[port]["counters"]["rx_bytes_total"]
                                   for port, row in after.items()
                                   if row["device"].split()[-1] in interfaces) * 8 / (late - early))
                for (early, before), (late, after) in zip(self._samples, self._samples[1:])]

    def utilisation(self, busy: list[tuple[str, str]]) -> dict[str, float]:
        """Returns the share of its rate that each link carried, over the intervals in which the ports `busy`
        carried more than a quarter of their maximum: while the reductions ran, and not while their
        workers started, met or checked results."""
        pairs = list(zip(self._samples, self._samples[1:]))
        carried = [sum(_line_bits(after[port]) - _line_bits(before[port]) for port in busy) / (late - early)
                   for (early, before), (late, after) in pairs]
        wanted = [pair for pair, rate in zip(pairs, carried) if rate > max(carried) / 4]
        if not wanted:
            return {}
        seconds = sum(late - early for (early, _), (late, _) in wanted)
        return {f"{port[0]}:{port[1]}":
                sum(_line_bits(after[port]) - _line_bits(before[port]) for (_, before), (_, after) in wanted)
                / seconds / row["rate_bits_per_second"]
                for port, row in self._samples[0][1].items()}


def _line_bits(row: dict) -> int:
    counters = row["counters"]
    return 8 * (counters["tx_bytes_total"]
                + LINE_OVERHEAD_BYTES * counters["tx_packets_total"])
