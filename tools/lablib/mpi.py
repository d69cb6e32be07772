# SPDX-License-Identifier: BSD-3-Clause
"""Runs MPI programs in hosts by Open MPI's mpirun, to which a host looks like a machine that it reaches by
ssh."""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from . import LabError
from .description import Guest, Lab

_AGENT = pathlib.Path(__file__).resolve().parent / "mpi-agent"
# The folder in which Debian's Open MPI has its own components, besides the one for Tributary.
_COMPONENTS = "/usr/lib/*/openmpi/lib/openmpi3"


def mpirun() -> str:
    """Returns Open MPI's mpirun, also where `mpirun` is that of another MPI."""
    for name in ("mpirun.openmpi", "mpirun"):
        path = shutil.which(name)
        if path is not None and "Open MPI" in subprocess.run(
                [path, "--version"], capture_output=True, text=True, check=False).stdout:
            return path
    raise LabError("there is no mpirun of Open MPI; tools/install-packages mpi")


def component_path(build: pathlib.Path) -> str | None:
    """Returns the value of OMPI_MCA_mca_base_component_path, or None where the component is not built."""
    ours = build / "src" / "bindings" / "openmpi"
    theirs = sorted(pathlib.Path("/").glob(_COMPONENTS.lstrip("/")))
    if not (ours / "mca_coll_tributary.so").exists() or not theirs:
        return None
    return f"{ours}:{theirs[0]}"


def run(lab: Lab, build: pathlib.Path, argv: list[str], hosts: list[str], per_host: Sequence[int] = (1,),
        timeout_s: float | None = None, parameters: dict[str, str] | None = None,
        stdout=None, stderr=None) -> int:
    """Runs `argv` as ranks of one MPI program, and returns the exit code of mpirun, which is in the first host.
    `per_host` has the number of ranks of each host; hosts without a number have the last one.
    `parameters` of Open MPI override those of the environment, and these override ours."""
    for host in hosts:
        if isinstance(lab.host(host), Guest):
            raise LabError(f"{host} is a guest, and has no MPI; take a lab with hosts, such as star-4")
    # By networks, Open MPI would warn on each host that is not in all of them.
    interfaces = ",".join(sorted({lab.host(host).interface for host in hosts}))
    ours = {
        "plm_rsh_agent": f"{_AGENT.name} {lab.name}",  # Open MPI splits it at blanks, so it has no path
        "plm_rsh_no_tree_spawn": "1",
        "oob_tcp_if_include": interfaces,
        "pml": "ob1",
        "btl": "tcp,self",
        "btl_tcp_if_include": interfaces,
        # Hosts share the processors of one machine, so ranks that wait yield the processor.
        "mpi_yield_when_idle": "1",
        "hwloc_base_binding_policy": "none",
    }
    with tempfile.TemporaryDirectory(prefix="lab-mpi-", ignore_cleanup_errors=True) as session:
        # Hosts of two labs may have one name, and Open MPI names its directories by that.
        ours["orte_tmpdir_base"] = session
        return _run(lab, build, argv, hosts, per_host, timeout_s, ours, parameters or {}, stdout, stderr)


def _run(lab: Lab, build: pathlib.Path, argv: list[str], hosts: list[str], per_host: Sequence[int],
         timeout_s: float | None, ours: dict[str, str], theirs: dict[str, str], stdout,
         stderr) -> int:
    component = component_path(build)
    if component:
        ours["mca_base_component_path"] = component
    counts = [*per_host, *[per_host[-1]] * len(hosts)][:len(hosts)]
    command = ["exec", mpirun(), "--allow-run-as-root", "-np", str(sum(counts)),
               "--host", ",".join(f"{host}:{count}" for host, count in zip(hosts, counts)),
               *(word for name, value in (ours | _given_parameters() | theirs).items()
                 for word in ("--mca", name, value)),
               *(word for name in _exported() for word in ("-x", f"{name}={os.environ[name]}")),
               *argv]
    child = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", str(_AGENT), lab.name, hosts[0], shlex.join(command)],
        env=os.environ | {"PATH": f"{_AGENT.parent}:{os.environ['PATH']}"}, stdin=subprocess.DEVNULL, stdout=stdout,
        stderr=stderr)
    try:
        return child.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        print(f"lab: no end after {timeout_s} s; ending mpirun", file=sys.stderr)
        return 124
    finally:
        _end(child)


def _given_parameters() -> dict[str, str]:
    prefix = "OMPI_MCA_"
    return {name.removeprefix(prefix): value for name, value in os.environ.items()
            if name.startswith(prefix)}


def _exported() -> list[str]:
    """Returns the variables of our environment that ranks get."""
    return [name for name in os.environ
            if name.startswith("TRIBUTARY_") or name in ("LD_LIBRARY_PATH", "LD_PRELOAD")]


def _end(child: subprocess.Popen) -> None:
    """Ends mpirun, which then ends its ranks; they also end when it is gone."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=20.0)
        except subprocess.TimeoutExpired:
            child.kill()
    child.wait()
