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
        self.begin_call()

    def begin_call(self) -> None:
        self._cwnd = float(self._first)
        self._round = self._first
        self._counted = self._marked = 0

    @property
    def size(self) -> int:
        return int(self._cwnd)

    def result(self, marked: bool, wnd_cap: int) -> None:
        """A new one came."""
        cap = max(wnd_cap, 1)
        if not self._congestion_control:
            self._cwnd = cap
            return
        self._counted += 1
        self._marked += marked
        if self._counted >= (self._round if self._whole_round_trips else self.size):
            self._adapt()
            self._counted = self._marked = 0
        self._cwnd = min(self._cwnd, cap)

    def _adapt(self) -> None:
        self._round = self.size
        self._alpha += (self._marked / self._counted - self._alpha) * _WEIGHT
        if self._marked:
            self._cwnd = max(self._cwnd * (1 - self._alpha / 2), 1.0)
            self._ssthresh = self._cwnd
        elif self._cwnd < self._ssthresh:
            self._cwnd *= 2
        else:
            self._cwnd += 1
