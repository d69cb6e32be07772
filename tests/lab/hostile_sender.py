# SPDX-License-Identifier: BSD-3-Clause
"""Sends what no worker would: hostile_sender.py KIND ADDRESS. Runs inside a host of a lab.

An independent encoder of Canary's packets (docs/reference/wire/canary.md), by way of struct and
zlib.
"""

import argparse
import random
import socket
import struct
import time
import zlib

PORT = 17000
# Name and format of every field, in order; the CRC follows.
FIELDS = (("destination", "I"), ("id", "I"), ("counter", "H"), ("hosts", "H"), ("children", "I"),
          ("switch_address", "H"), ("flags", "B"), ("kind", "B"), ("element_type", "B"),
          ("op", "B"), ("unused", "B"), ("shard", "B"), ("job", "I"), ("elements", "H"),
          ("child_port", "H"), ("fingerprint", "Q"), ("child_address", "I"), ("switch_ipv4", "I"),
          ("child_mac", "6s"), ("rank", "H"), ("payload_crc", "I"))
LAYOUT = struct.Struct(">" + "".join(form for _, form in FIELDS))
assert LAYOUT.size == 60


def packet(fields: dict, payload: bytes) -> bytes:
    fields = {"payload_crc": zlib.crc32(payload)} | fields
    header = LAYOUT.pack(*(fields[name] for name, _ in FIELDS))
    return header + struct.pack(">I", zlib.crc32(header)) + payload


def honest(leader: str, own: str, job: int, hosts: int) -> dict:
    """A contribution as a worker sends it."""
    number = lambda address: struct.unpack(">I", socket.inet_aton(address))[0]  # noqa: E731
    return {"destination": number(leader), "id": 1, "counter": 1, "hosts": hosts, "children": 0,
            "switch_address": 0, "flags": 2, "kind": 1, "element_type": 0, "op": 0, "unused": 0,
            "shard": 0, "job": job, "elements": 16, "child_port": PORT,
            "fingerprint": random.getrandbits(64), "child_address": number(own),
            "switch_ipv4": 0, "child_mac": bytes(6), "rank": 3}


def truncated(fields: dict):
    whole = packet(fields, bytes(64))
    for _ in range(4):
        for length in range(len(whole)):
            yield whole[:length]


def oversized(fields: dict):
    for extra in (1, 4, 100, 1200):
        yield packet(fields, bytes(64 + extra))


def lying(fields: dict):
    """Every field at 0, 1 and its maximum, under a right CRC and under the old one."""
    payload = bytes(64)
    right = packet(fields, payload)
    for name, form in FIELDS:
        size = struct.calcsize(">" + form)
        for value in (0, 1, (1 << (8 * size)) - 1):
            wrong = fields | {name: value.to_bytes(6, "big") if form == "6s" else value}
            yield packet(wrong, payload)
            header = packet(wrong, payload)[:60]
            yield header + right[60:]


def noise(_fields: dict):
    for _ in range(2000):
        yield random.randbytes(random.randrange(1400))


def ids(fields: dict, count: int):
    payload = bytes(64)
    for i in range(count):
        yield packet(fields | {"id": i & 0xffffffff, "job": 7000 + (i >> 12)}, payload)


def messages(fields: dict, count: int):
    """The messages between leaders, workers and switches, well formed and forged."""
    for i in range(count):
        kind = 2 + i % 6
        down = kind in (2, 3, 7)
        ranks = struct.pack("<2h", 1, 2) if kind == 6 else b""
        yield packet(fields | {"kind": kind, "flags": 0x42 if down else 2, "id": i & 0xffffffff,
                               "counter": fields["hosts"] if kind in (2, 3) else 0,
                               "element_type": 5 if kind == 6 else 0,
                               "elements": len(ranks) // 2, "children": 1}, ranks)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["truncated", "oversized", "fields", "random", "ids",
                                         "messages"])
    parser.add_argument("address")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=2000, help="packets per second; 0: no pause")
    parser.add_argument("--job", type=int, default=random.getrandbits(32),
                        help="whose packets these are to look like")
    parser.add_argument("--hosts", type=int, default=8, help="that the job has")
    arguments = parser.parse_args()
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.connect((arguments.address, PORT))
    fields = honest(arguments.address, out.getsockname()[0], arguments.job, arguments.hosts)
    packets = {"truncated": truncated, "oversized": oversized, "fields": lying,
               "random": noise, "ids": lambda f: ids(f, arguments.count),
               "messages": lambda f: messages(f, arguments.count)}[arguments.kind](fields)
    start = time.monotonic()
    for sent, data in enumerate(packets):
        try:
            out.send(data)
        except ConnectionRefusedError:
            pass  # nobody listens there: an answer to an earlier packet
        if arguments.rate and sent % 50 == 0:
            time.sleep(max(0.0, start + sent / arguments.rate - time.monotonic()))


if __name__ == "__main__":
    main()
