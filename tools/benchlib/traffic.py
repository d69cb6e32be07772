# SPDX-License-Identifier: BSD-3-Clause
"""Counts the bytes that the links of a fabric carried, each direction of a link once."""

from .fabric import LINE_OVERHEAD_BYTES, Fabric


def carried_bytes(net: Fabric) -> int:
    """Returns the bytes since the switches started: what their ports sent, and what ports to hosts received."""
    hosts = {host.switch_interface for host in net.lab.hosts}
    total = 0
    for row in net.rows("port"):
        total += _line_bytes(row, "tx")
        if row["device"].split()[-1] in hosts:
            total += _line_bytes(row, "rx")
    return total


def _line_bytes(row: dict, direction: str) -> int:
    counters = row["counters"]
    return (counters[f"{direction}_bytes_total"]
            + LINE_OVERHEAD_BYTES * counters[f"{direction}_packets_total"])
