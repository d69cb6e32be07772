# SPDX-License-Identifier: BSD-3-Clause
"""Sends gradients of a ring that the sender is no member of: forged_gradients.py ADDRESS RING WORLD.

Runs inside a host of a lab. An independent encoder of RoCEv2 and of NetReduce's header
(docs/reference/wire/netreduce.md), by way of struct and zlib.
"""

import random
import socket
import struct
import sys
import time
import zlib

PORT = 4791
MTU = 1024
WRITE_FIRST, WRITE_MIDDLE, WRITE_ONLY_IMMEDIATE = 0x06, 0x07, 0x0b


def icrc(source: str, destination: str, packet: bytes) -> bytes:
    """Of a packet from PORT to PORT, with what routers change counted as ones."""
    length = 8 + len(packet) + 4
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0xff, 20 + length, 0, 0x4000, 0xff, 17, 0xffff,
                     socket.inet_aton(source), socket.inet_aton(destination))
    udp = struct.pack(">HHHH", PORT, PORT, length, 0xffff)
    masked = packet[:4] + b"\xff" + packet[5:]
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + masked))


def bth(opcode: int, qp: int, psn: int) -> bytes:
    return struct.pack(">BBHII", opcode, 0, 0xffff, qp, psn)


def header(ring: int, world: int, rank: int, message: int, length: int) -> bytes:
    packets = -(-length // MTU)
    return struct.pack(">IIIIIHHHBBB3x", 0x494e4154, ring, message, length,
                       random.getrandbits(32), packets, rank, world, 0, 0, 1)


def packets(ring: int, world: int):
    """First packets of messages of every rank, long and short, and what follows them."""
    while True:
        rank = random.randrange(world)
        message = random.choice((0, 1, random.getrandbits(32)))
        qp, psn = random.getrandbits(24), random.getrandbits(24)
        length = random.choice((40, 512, 3 * MTU))
        first = header(ring, world, rank, message, length) + bytes(min(length, MTU) - 32)
        reth = struct.pack(">QII", 0, 0, length)
        if length <= MTU:
            yield (bth(WRITE_ONLY_IMMEDIATE, qp, psn) + reth +
                   struct.pack(">I", message & 0xffffffff) + first)
        else:
            yield bth(WRITE_FIRST, qp, psn) + reth + first
            yield bth(WRITE_MIDDLE, qp, (psn + 1) & 0xffffff) + bytes(MTU)


def main() -> None:
    address, ring, world = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        # Linux gives packets that must not be fragmented, of a socket that is not connected, the
        # identification 0.
        ip_mtu_discover, probe = 10, 3
        out.setsockopt(socket.IPPROTO_IP, ip_mtu_discover, probe)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.connect((address, PORT))
            own = asking.getsockname()[0]
        out.bind((own, PORT))
        for sent, packet in enumerate(packets(ring, world)):
            out.sendto(packet + icrc(own, address, packet), (address, PORT))
            if sent % 20 == 0:
                time.sleep(0.01)


if __name__ == "__main__":
    main()
