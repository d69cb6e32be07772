# SPDX-License-Identifier: BSD-3-Clause
"""The multicast groups of trees: PANAMA's, unless told."""

import socket

from panama_packets import PORT

_TRAFFIC_CLASS = 0xe2  # DSCP 56, ECT(0)
_TTL = 64
_SO_NO_CHECK, _IP_MULTICAST_ALL = 11, 49
_CE = 3


class Groups:
    def __init__(self, address: str, groups: list[str], port: int = PORT,
                 traffic_class: int = _TRAFFIC_CLASS):
        self._groups, self._port = groups, port
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        ours = socket.inet_aton(address)
        for level, option, value in (
                (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1),
                (socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20),
                (socket.SOL_SOCKET, _SO_NO_CHECK, 1),
                (socket.IPPROTO_IP, socket.IP_TOS, traffic_class),
                (socket.IPPROTO_IP, socket.IP_RECVTOS, 1),
                (socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, _TTL),
                (socket.IPPROTO_IP, socket.IP_MULTICAST_IF, ours),
                (socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0)):  # no others' groups
            self.socket.setsockopt(level, option, value)
        self.socket.bind(("", port))
        for group in groups:
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                                   socket.inet_aton(group) + ours)
        self.socket.setblocking(False)

    def send(self, tree: int, datagram: bytes) -> None:
        try:
            self.socket.sendto(datagram, (self._groups[tree], self._port))
        except BlockingIOError:
            pass  # as if it was lost on the way

    def receive(self) -> tuple[bytes, bool] | None:
        """A datagram, and whether a queue has marked it."""
        try:
            datagram, about, _, _ = self.socket.recvmsg(65536, 64)
        except BlockingIOError:
            return None
        marked = any(kind == socket.IP_TOS and data[0] & _CE == _CE for _, kind, data in about)
        return datagram, marked
