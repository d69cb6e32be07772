#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Started in every host of a lab: a worker of its own for the ranks in WIRE_RANKS, for the others
tributary-bench."""

import os
import socket
import sys

import bench

_MTU = 1500


def own_address() -> str:
    """The one that routes to the rendezvous."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((os.environ["MASTER_ADDR"], 9))
        return probe.getsockname()[0]


if os.environ["RANK"] in os.environ["WIRE_RANKS"].split(","):
    sys.exit(bench.main(sys.argv[1:], own_address(), _MTU))
os.execv(os.environ["TRIBUTARY_BENCH"], ["tributary-bench", *sys.argv[1:]])
