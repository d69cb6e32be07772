# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI_Allreduce of Open MPI in the hosts of a lab."""

import sys
import tempfile

from lablib import LabError, mpi

from .fabric import Fabric

LIMIT_S = 600.0
# What the component says where it does not carry what is measured.
FALLBACKS = (": not carried, ", "reduce alone")


def run(net: Fabric, parameters: dict[str, str], sizes: list[int], iterations: int,
        per_host: int = 1, hosts: int | None = None) -> dict[int, list[float]]:
    """Returns the microseconds of each call (of the slowest rank) by size in bytes. `parameters` are Open MPI's; of
    the lab's hosts, the first `hosts` have ranks."""
    program = net.build / "tests" / "perf" / "mpi_allreduce"
    argv = [str(program), str(iterations), *map(str, sizes)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaints:
        code = mpi.run(net.lab, net.build, argv, net.hosts[:hosts], [per_host], timeout_s=LIMIT_S,
                       parameters=parameters, stdout=out, stderr=complaints)
        complaints.seek(0)
        said = complaints.read()
        sys.stderr.write(said)
        if code != 0:
            raise LabError(f"mpirun with {parameters} ended with {code}")
        if any(fallback in said for fallback in FALLBACKS):
            raise LabError(f"with {parameters} it was not Tributary's switches that added up, as said above")
        out.seek(0)
        samples: dict[int, list[float]] = {size: [] for size in sizes}
        for line in out:
            size, microseconds = line.split()
            samples[int(size)].append(float(microseconds))
    return samples
