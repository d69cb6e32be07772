# SPDX-License-Identifier: BSD-3-Clause
"""Which blocks of a call by Flare may be sent, and which have to be sent again. A call knows its blocks
by their places in it, from 0."""

from round_trips import RoundTrips


class Window:
    def __init__(self, count: int, size: int, round_trips: RoundTrips):
        self._count, self._size, self._round_trips = count, size, round_trips
        self._next = self._lowest = 0  # never sent; without result
        self._done: set[int] = set()
        self._sent: dict[int, float | None] = {}  # without result: when, if once
        self._ask_at, self._asked = 0.0, 0

    def finished(self) -> bool:
        return self._lowest == self._count

    def lacks(self, index: int) -> bool:
        """It was sent, and has no result."""
        return index in self._sent

    def to_send(self, now: float):
        """Blocks, and whether each is sent again."""
        while self._next < min(self._lowest + self._size, self._count):
            if not self._sent:
                self._wait(now)
            self._sent[self._next] = now
            self._next += 1
            yield self._next - 1, False
        if self._sent and now >= self._ask_at:
            self._asked += 1
            self._ask_at = now + self._round_trips.timeout(self._asked)
            lowest = min(self._sent)
            self._sent[lowest] = None
            yield lowest, True

    def _wait(self, now: float) -> None:
        self._asked = 0
        self._ask_at = now + self._round_trips.timeout(0)

    def done(self, index: int, now: float) -> None:
        """A block that is lacking has its result."""
        sent = self._sent.pop(index)
        if sent is not None:
            self._round_trips.measured(now - sent)
        self._done.add(index)
        while self._lowest in self._done:
            self._done.remove(self._lowest)
            self._lowest += 1
        self._wait(now)
