# SPDX-License-Identifier: BSD-3-Clause
"""Sends and hears frames with VLAN tags, by a packet socket: no VLAN devices are needed.

tagged_frames.py send INTERFACE MARK [TAG ...]   a broadcast frame; a tag is VID or PRIORITY/VID
tagged_frames.py ask INTERFACE OWN ADDRESS [TAG ...]   by ARP, who has ADDRESS; ends when the answer comes
tagged_frames.py hear INTERFACE                  a line for each that comes: MARK [TAG ...]
"""

import socket
import struct
import sys

ETH_P_ALL, VLAN, OWN, ARP = 3, 0x8100, 0x88b6, 0x0806
SOL_PACKET, PACKET_AUXDATA, PACKET_OUTGOING = 263, 8, 4
VLAN_VALID = 0x10  # TP_STATUS_VLAN_VALID
AUXDATA = struct.Struct("=IIIHHHH")


def control_of(tag: str) -> int:
    priority, _, vid = tag.rpartition("/")
    return int(priority or 0) << 13 | int(vid)


def text_of(control: int) -> str:
    priority, vid = control >> 13, control & 0xfff
    return f"{priority}/{vid}" if priority else str(vid)


def broadcast(own: bytes, tags: tuple[str, ...], kind: int, payload: bytes) -> bytes:
    stack = b"".join(struct.pack("!HH", VLAN, control_of(tag)) for tag in tags)
    return b"\xff" * 6 + own + stack + struct.pack("!H", kind) + payload.ljust(64, b"\0")


def send(interface: str, mark: str, *tags: str) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind((interface, 0))
        raw.send(broadcast(raw.getsockname()[4], tags, OWN, mark.encode()))


def ask(interface: str, own_address: str, address: str, *tags: str) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ARP)) as raw:
        raw.bind((interface, ARP))
        raw.settimeout(10)
        own, wanted = raw.getsockname()[4], socket.inet_aton(address)
        question = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + own + socket.inet_aton(own_address) + bytes(6) + wanted
        raw.send(broadcast(own, tags, ARP, question))
        while True:
            answer = raw.recv(2048)[14:]
            if answer[6:8] == b"\0\2" and answer[14:18] == wanted:
                return


def hear(interface: str) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as raw:
        raw.bind((interface, ETH_P_ALL))
        raw.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        print("ready", flush=True)
        while True:
            frame, more, _, address = raw.recvmsg(2048, socket.CMSG_SPACE(AUXDATA.size))
            if address[2] != PACKET_OUTGOING:
                say(frame, more)


def say(frame: bytes, more) -> None:
    """The kernel takes the outer tag off, and tells it beside the frame."""
    tags = []
    for level, kind, data in more:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, control, _ = AUXDATA.unpack(data)
            tags += [text_of(control)] if status & VLAN_VALID else []
    kind, rest = struct.unpack_from("!H", frame, 12)[0], frame[14:]
    while kind == VLAN and len(rest) >= 4:
        control, kind = struct.unpack_from("!HH", rest)
        tags.append(text_of(control))
        rest = rest[4:]
    if kind == OWN:
        print(" ".join([rest.split(b"\0")[0].decode(errors="replace"), *tags]), flush=True)


if __name__ == "__main__":
    {"send": send, "ask": ask, "hear": hear}[sys.argv[1]](*sys.argv[2:])
