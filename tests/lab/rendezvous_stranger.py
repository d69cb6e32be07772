# SPDX-License-Identifier: BSD-3-Clause
"""rendezvous_stranger.py ADDRESS WORLD: greets as every rank but 0, again and again, and stays.

A hello as docs/reference/wire/rendezvous.md has it, that of a true rank but for the proof. Ends when
it is killed.
"""

import socket
import struct
import sys
import time

PORT = 29500
MAGIC, VERSION = 0x54524942, 8
WELCOME_BYTES = 40
HELLO = struct.Struct(">IHBBIIIHHIII16s16s60x")
NO_PROOF = bytes(64)


def greet(address: str, rank: int, world: int) -> socket.socket:
    connection = socket.create_connection((address, PORT), timeout=1)
    own = struct.unpack(">I", socket.inet_aton(connection.getsockname()[0]))[0]
    # The address is its own, so that whoever believed it would wait for it.
    hello = HELLO.pack(MAGIC, VERSION, 0, 0, rank, world, own, 17000, 1, 1408, 64, 0,
                      b"auto", b"canary")
    assert len(hello) == 128
    connection.recv(WELCOME_BYTES, socket.MSG_WAITALL)
    connection.sendall(hello + NO_PROOF)
    return connection


def main() -> None:
    address, world = sys.argv[1], int(sys.argv[2])
    stays = []
    while True:
        for rank in range(1, world):
            try:
                stays.append(greet(address, rank, world))
            except OSError:
                time.sleep(0.001)  # nobody listens
        del stays[:-64]


if __name__ == "__main__":
    main()
