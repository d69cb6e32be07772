# SPDX-License-Identifier: BSD-3-Clause
"""Places trees of PANAMA and Flare in a fabric, by `tributaryctl fabric`."""

import pathlib
import subprocess
import tempfile

from lablib import LabError, control, fabric_file

from .fabric import Fabric


class Trees:
    """The trees of one job, while the context runs. `environment` is for its workers."""

    def __init__(self, net: Fabric, job: int, hosts: list[str], count: int,
                 without: tuple[str, ...] = (), **of_job):
        self._net, self._job = net, job
        self._text = fabric_file.text(net.lab, job, hosts, count, without, **of_job)
        self.environment: dict[str, str] = {}

    def __enter__(self) -> "Trees":
        self._directory = tempfile.TemporaryDirectory()
        self._file = pathlib.Path(self._directory.name) / "fabric.toml"
        self._file.write_text(self._text)
        self._fabric("apply", "--env", self._directory.name)
        for path in self._file.parent.glob("*.env"):
            for line in path.read_text().splitlines():
                key, equals, value = line.partition("=")
                if equals:
                    self.environment[key] = value
        return self

    def __exit__(self, kind, *_) -> None:
        with self._directory:
            if kind is None:  # otherwise the lab ends, and they with it
                self._fabric("remove", "--force")  # its workers ended, but not long ago

    def _fabric(self, command: str, *options: str) -> None:
        done = subprocess.run([self._net.program("tributaryctl"), "--timeout", str(control.PATIENCE_S), "fabric",
                               command, str(self._file), *options],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=10 * control.PATIENCE_S)
        if done.returncode != 0:
            raise LabError(f"tributaryctl fabric {command}: {(done.stderr or done.stdout).strip()}")
