# SPDX-License-Identifier: BSD-3-Clause
"""What the headers of Canary and PANAMA have in common: a CRC over the elements, and at the end one over
the header."""

import struct
import zlib

_CRC = struct.Struct(">I")


def seal(layout: struct.Struct, fields: list, payload: bytes) -> bytes:
    """`layout`: of the header but for the last CRC; it ends with that over the elements."""
    header = layout.pack(*fields, zlib.crc32(payload))
    return header + _CRC.pack(zlib.crc32(header)) + payload


def unseal(layout: struct.Struct, datagram: bytes) -> tuple[list, bytes] | None:
    """The fields and the elements, or None if a CRC is wrong."""
    header_bytes = layout.size + _CRC.size
    if len(datagram) < header_bytes:
        return None
    *fields, payload_crc = layout.unpack_from(datagram)
    payload = datagram[header_bytes:]
    crc = _CRC.pack(zlib.crc32(datagram[:layout.size]))
    if payload_crc != zlib.crc32(payload) or datagram[layout.size:header_bytes] != crc:
        return None
    return fields, payload
