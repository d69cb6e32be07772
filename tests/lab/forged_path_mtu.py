# SPDX-License-Identifier: BSD-3-Clause
"""Claims that a path takes only small packets: forged_path_mtu.py MTU SENDER DESTINATION...

Runs inside a host of a lab. SENDER is told, by ICMP or ICMPv6, that its answer to a ping of each DESTINATION was
too large. Linux believes it of hosts that are on no such path, and holds it for all packets to that destination.
"""

import ipaddress
import socket
import struct
import sys

REPLY = struct.pack(">BBHHH", 0, 0, 0, 1, 1)
REPLY_6 = struct.pack(">BBHHH", 129, 0, 0, 1, 1)


def checksum(message: bytes) -> int:
    total = sum(struct.unpack(f">{len(message) // 2}H", message))
    return ~(total + total // 0xffff) & 0xffff


def fragmentation_needed(sender: bytes, destination: bytes, mtu: int) -> bytes:
    """RFC 792 and RFC 1191."""
    quoted = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 1500, 0, 0x4000, 64, 1, 0, sender, destination) + REPLY
    zeroed = struct.pack(">BBHHH", 3, 4, 0, 0, mtu) + quoted
    return zeroed[:2] + struct.pack(">H", checksum(zeroed)) + zeroed[4:]


def packet_too_big(sender: bytes, destination: bytes, mtu: int) -> bytes:
    """RFC 4443. The kernel fills in the checksum."""
    quoted = struct.pack(">IHBB16s16s", 6 << 28, 1460, 58, 64, sender, destination) + REPLY_6
    return struct.pack(">BBHI", 2, 0, 0, mtu) + quoted


def main() -> None:
    mtu, sender, *destinations = sys.argv[1:]
    told = ipaddress.ip_address(sender)
    family, protocol, message_of = (
        (socket.AF_INET, socket.IPPROTO_ICMP, fragmentation_needed) if told.version == 4 else
        (socket.AF_INET6, socket.IPPROTO_ICMPV6, packet_too_big))
    with socket.socket(family, socket.SOCK_RAW, protocol) as out:
        for destination in map(ipaddress.ip_address, destinations):
            out.sendto(message_of(told.packed, destination.packed, int(mtu)), (sender, 0))


if __name__ == "__main__":
    main()
