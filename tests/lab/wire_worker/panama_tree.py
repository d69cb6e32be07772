# SPDX-License-Identifier: BSD-3-Clause
"""One of PANAMA's trees in one call: what may be sent, and what has to be sent again."""

from panama_call import Packets
from panama_packets import RETRANSMISSION, Packet
from congestion_window import Window
from round_trips import RoundTrips

_OVERTAKEN = 3  # packets whose results came, and that were sent later


class Tree:
    def __init__(self, packets: Packets, number: int, window: Window, most: int,
                 round_trips: RoundTrips):
        """`most`: packets that this worker ever has on the way here."""
        self._packets, self._number, self._window, self._most = packets, number, window, most
        self._round_trips = round_trips
        self._count = packets.of_tree(number)
        self._next = self._lowest = 0  # never sent; without result
        self._sendings = 0
        self._sent: dict[int, tuple[int, float | None]] = {}  # by VID: which sending; when, if the first
        self._done: dict[int, int] = {}  # by VID: which sending
        self._ask_at, self._asked = 0.0, 0
        self._asked_for: set[int] = set()  # by the timer
        self._seen = 0  # behind the highest result
        self._left_out = False  # the others go on without this rank
        self.owes_last = False  # its result is here, and the contribution was never sent
        window.begin_call()

    def finished(self) -> bool:
        return self._lowest == self._count

    def may_send(self) -> bool:
        while self._next in self._done:
            self._next += 1
        return self._next < min(self._lowest + min(self._window.size, self._most), self._count)

    def send_next(self, now: float) -> Packet:
        if self._next == self._lowest:
            self._wait(now)
        vid = self._next
        self._next += 1
        packet = self._send(vid, now)
        if self._packets.is_partial() and (self._left_out or vid < self._seen):
            packet.flags |= RETRANSMISSION  # its result may be there
        return packet

    def _send(self, vid: int, sent_first: float | None) -> Packet:
        self._sendings += 1
        self._sent[vid] = self._sendings, sent_first
        return self._packets.contribution(self._number, vid)

    def late(self, now: float) -> Packet | None:
        """What is to be sent again."""
        if self._lowest == self._next:
            return None
        if not self._is_overtaken():
            if now < self._ask_at:
                return None
            self._asked += 1
            self._asked_for.add(self._lowest)
        self._ask_at = now + self._round_trips.timeout(self._asked)
        packet = self._send(self._lowest, None)
        packet.flags |= RETRANSMISSION
        return packet

    def _is_overtaken(self) -> bool:
        sending, _ = self._sent[self._lowest]
        return sum(later > sending for later in self._done.values()) >= _OVERTAKEN

    def _wait(self, now: float) -> None:
        self._asked = 0
        self._ask_at = now + self._round_trips.timeout(0)

    def take(self, result: Packet, marked: bool, now: float) -> bool:
        """Whether it is news."""
        is_early = self._next <= result.vid and result.vid not in self._done
        if result.vid not in self._sent and (not is_early or self._packets.has_all(result)):
            return False
        self._window.result(marked, result.wnd_cap, full=self._next < self._count)
        self._note_absence(result)
        self._seen = max(self._seen, result.vid + 1)
        self._done[result.vid], sent_first = self._sent.pop(result.vid, (0, None))
        if sent_first is not None:
            self._round_trips.measured(now - sent_first)
        while self._lowest in self._done:
            del self._done[self._lowest]
            self._lowest += 1
        self._next = max(self._next, self._lowest)
        self.owes_last |= is_early and self._packets.is_last(self._number, result.vid)
        self._wait(now)
        return True

    def _note_absence(self, result: Packet) -> None:
        if self._packets.has_all(result) or result.vid not in self._sent:
            self._left_out = False
        elif result.vid in self._asked_for:
            self._left_out = True
