# SPDX-License-Identifier: BSD-3-Clause
"""A client of the control socket (docs/reference/control-protocol.md) that starts no program on a busy
CPU."""

import json
import pathlib
import socket
import struct

from lablib import LabError

_LENGTH = struct.Struct(">I")
# On a busy machine packet cores are late, for which the daemon waits a quarter of this.
_PATIENCE_S = 240


def listens(path: pathlib.Path) -> bool:
    try:
        Control(path).close()
        return True
    except (FileNotFoundError, ConnectionRefusedError):
        return False


class Control:
    def __init__(self, path: pathlib.Path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_PATIENCE_S)
        try:
            self._socket.connect(str(path))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        self._socket.close()

    def ask(self, method: str) -> dict:
        request = json.dumps({"version": 1, "id": 1, "method": method,
                              "timeout_ms": 1000 * _PATIENCE_S}).encode()
        self._socket.sendall(_LENGTH.pack(len(request)) + request)
        answer = json.loads(self._receive(_LENGTH.unpack(self._receive(_LENGTH.size))[0]))
        if "error" in answer:
            raise LabError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _receive(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self._socket.recv(count - len(data))
            if not part:
                raise LabError("tributaryd closed its control socket")
            data += part
        return data
