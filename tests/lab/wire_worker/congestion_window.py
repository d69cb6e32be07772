# SPDX-License-Identifier: BSD-3-Clause
"""How many packets a worker may have on the way: as in a tree of PANAMA's (4.2.2)."""

_FIRST = 2
_WEIGHT = 1 / 16


class Window:
    def __init__(self, congestion_control: bool, first: int = _FIRST, ssthresh: float = 64,
                 whole_round_trips: bool = False):
        self._congestion_control = congestion_control
        self._first, self._ssthresh, self._alpha = first, ssthresh, 1.0
        self._whole_round_trips = whole_round_trips
        self._kept, self._cwnd, self._cap = 0.0, float(first), first
        self.begin_call()

    def begin_call(self) -> None:
        self._kept = max(self._kept, self._cwnd)
        self._cwnd = float(self._first)
        self._round = self._first
        self._counted = self._marked = 0
        self._full = False

    @property
    def size(self) -> int:
        return min(int(self._cwnd), self._cap)

    def result(self, marked: bool, wnd_cap: int, full: bool = True) -> None:
        """A new one came; `full`: more would have been sent if the window had been larger."""
        self._cap = max(wnd_cap, 1)
        if not self._congestion_control:
            self._cwnd = self._cap
            return
        if not marked:
            self._cwnd = max(self._cwnd, self._kept)
        self._kept = 0.0
        self._counted += 1
        self._marked += marked
        self._full |= full
        if self._counted >= (self._round if self._whole_round_trips else self.size):
            self._adapt()
            self._counted = self._marked = 0
            self._full = False
        if full:
            self._cwnd = min(self._cwnd, self._cap)

    def _adapt(self) -> None:
        self._round = self.size
        self._alpha += (self._marked / self._counted - self._alpha) * _WEIGHT
        if self._marked:
            self._cwnd = max(self._cwnd * (1 - self._alpha / 2), 1.0)
            self._ssthresh = self._cwnd
        elif self._full:
            self._cwnd += self._cwnd if self._cwnd < self._ssthresh else 1
