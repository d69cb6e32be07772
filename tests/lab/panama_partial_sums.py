# SPDX-License-Identifier: BSD-3-Clause
"""A rank of panama_test.py that is told who is missing in a sum; the last rank is late."""

import array
import time

import tributary

with tributary.Communicator() as comm:
    comm.barrier()
    if comm.rank == comm.size - 1:
        time.sleep(1)
    values = comm.allreduce(array.array("d", [2.0 ** comm.rank]) * 20_000)
    everybody = 2.0 ** comm.size - 1
    expected = array.array("d", [everybody]) * 20_000
    for first, count, missing in comm.partial_results():
        present = everybody - sum(2 ** rank for rank in missing)
        expected[first:first + count] = array.array("d", [present]) * count
    assert values == expected, (set(values), set(expected))
    assert min(values) < everybody, "nobody was missing"
    comm.barrier()
