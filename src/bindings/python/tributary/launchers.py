# SPDX-License-Identifier: BSD-3-Clause
"""What other launchers tell a rank, in torchrun's words: PyTorch knows no others.

libtributary reads the same variables (docs/reference/library.md has a table of them).
"""

import re
import zlib
from collections.abc import Mapping

_BY_HAND = "RANK", "WORLD_SIZE"
_OPEN_MPI = "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"
_MPICH = "PMI_RANK", "PMI_SIZE"
_SLURM = "SLURM_PROCID", "SLURM_NTASKS"
_LOCAL_RANKS = "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"
_PORTS = range(20000, 30000, 80)  # below those that Linux gives to connections


def torchruns_variables(told: Mapping[str, str]) -> dict[str, str]:
    """As far as any launcher has told them; the first one in the list that has counts."""
    launcher = next((pair for pair in (_BY_HAND, _OPEN_MPI, _MPICH, _SLURM) if all(map(told.get, pair))), None)
    if launcher is None:
        return {}
    variables = dict(zip(_BY_HAND, map(told.get, launcher)))
    local_rank = next(filter(None, map(told.get, _LOCAL_RANKS)), None)
    if local_rank is not None:
        variables["LOCAL_RANK"] = local_rank
    place = _place(launcher, told)
    if place and not told.get("MASTER_ADDR") and not told.get("MASTER_PORT"):
        variables["MASTER_ADDR"], variables["MASTER_PORT"] = place
    return variables


def _place(launcher: tuple[str, str], told: Mapping[str, str]) -> tuple[str, str] | None:
    """Where the ranks can meet: each has to come to the same."""
    if launcher == _SLURM and told.get("SLURM_STEP_NODELIST"):
        step = int(told.get("SLURM_JOB_ID") or 0) * 16 + int(told.get("SLURM_STEP_ID") or 0)
        return _first_node(told["SLURM_STEP_NODELIST"]), _port_of(step)
    if launcher == _OPEN_MPI and told.get("OMPI_COMM_WORLD_LOCAL_SIZE") == told["OMPI_COMM_WORLD_SIZE"]:
        return "127.0.0.1", _port_of(zlib.crc32(told.get("PMIX_NAMESPACE", "").encode()))
    return None


def _first_node(nodes: str) -> str:
    """Of Slurm's list: node07-a of node[07-09,12]-a,other."""
    return re.sub(r"\[([^],-]*)[^]]*\]", r"\1", nodes).split(",")[0]


def _port_of(job: int) -> str:
    return str(_PORTS[job % len(_PORTS)])
