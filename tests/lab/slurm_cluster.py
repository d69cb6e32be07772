# SPDX-License-Identifier: BSD-3-Clause
"""Slurm on the hosts of a lab: each is a node with its own slurmd, the first one has slurmctld as well."""

import contextlib
import os
import pathlib
import secrets
import signal
import subprocess

import support

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
CPUS = 2  # of each node, whatever this machine has

_CONF = """\
ClusterName=lab
SlurmctldHost={first}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=0
{nodes}
PartitionName=lab Nodes=ALL Default=YES State=UP
"""

# In a host, under its name and with the names of the others, and with processes of its own, which end
# with the first of them: those that Slurm starts are not left behind.
_IN_A_HOST = """
namespace=$1 host=$2 hosts=$3; shift 3
exec nsenter --net="$namespace" -- unshare --uts --mount --pid --fork --kill-child --mount-proc -- sh -c '
  hostname "$1" && mount --bind "$2" /etc/hosts && shift 2 && exec "$@"' sh "$host" "$hosts" "$@"
"""


def _children_of(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError):
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


class Cluster:
    """Up as long as the `with` statement lasts. Its files are in the lab's directory."""

    def __init__(self, lab: support.Lab, addresses: dict[str, str]):
        """`addresses`: those of the hosts that are nodes, by name."""
        self.lab = lab
        self.addresses = addresses
        self.first = next(iter(addresses))
        self.directory = lab.directory / "slurm"
        self._children: list[subprocess.Popen] = []

    def __enter__(self) -> "Cluster":
        self._write_files()
        try:
            self._start("munged", "--foreground", "--force", "--socket", self.directory / "munge.socket",
                        "--key-file", self.directory / "munge.key",
                        "--pid-file", self.directory / "munge.pid",
                        "--log-file", self.directory / "munge.log",
                        "--seed-file", self.directory / "munge.seed")
            support.until((self.directory / "munge.socket").exists)
            self._start(*self._in(self.first, "slurmctld", "-D"))
            for host in self.addresses:
                self._start(*self._in(host, "slurmd", "-D", "-N", host))
            support.until(lambda: self.idle() == len(self.addresses))
        except BaseException as error:
            self.__exit__()
            raise AssertionError(f"Slurm does not come up: {error}\n{self.logs()}") from error
        return self

    def __exit__(self, *_) -> None:
        for child in reversed(self._children):
            # The first process in a host takes all others there with it, and is waited for by ours.
            for pid in _children_of(child.pid) or [child.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            child.wait()
        self._children.clear()

    def idle(self) -> int:
        """Nodes that wait for work."""
        done = support.run(*self._in(self.first, "sinfo", "--noheader", "--Node", "--format=%T"),
                           env=self._environment())
        return done.stdout.split().count("idle")

    def srun(self, *argv, **variables) -> subprocess.CompletedProcess:
        """On the first host."""
        return support.run(*self._in(self.first, "srun", *argv), env=self._environment() | variables,
                           timeout=2 * support.PATIENCE_S)

    def logs(self) -> str:
        return "\n".join(f"{path.name}:\n{path.read_text()[-4000:]}"
                         for path in sorted(self.directory.glob("*.log")))

    def _write_files(self) -> None:
        self.directory.mkdir(mode=0o755)
        (self.directory / "state").mkdir()
        key = self.directory / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        nodes = "\n".join(f"NodeName={host} NodeAddr={address} CPUs={CPUS} State=UNKNOWN"
                          for host, address in self.addresses.items())
        (self.directory / "slurm.conf").write_text(_CONF.format(
            first=self.first, address=self.addresses[self.first], directory=self.directory, nodes=nodes))
        (self.directory / "hosts").write_text(
            "127.0.0.1 localhost\n" + "".join(f"{address} {host}\n"
                                              for host, address in self.addresses.items()))

    def _in(self, host: str, *argv) -> list[str]:
        return ["sh", "-c", _IN_A_HOST, "sh", f"/run/netns/trib-{self.lab.name}-{host}", host,
                str(self.directory / "hosts"), *map(str, argv)]

    def _environment(self) -> dict[str, str]:
        """Without what other launchers would have told."""
        told = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
        ours = {name: value for name, value in os.environ.items()
                if name not in told and not name.startswith("SLURM_")}
        return ours | {"SLURM_CONF": str(self.directory / "slurm.conf")}

    def _start(self, *argv) -> None:
        with open(self.directory / f"{len(self._children)}-output.log", "w", encoding="utf-8") as out:
            self._children.append(subprocess.Popen(
                # It ends with us, even if we are killed.
                ["setpriv", "--pdeathsig", "KILL", *map(str, argv)], stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, env=self._environment()))
