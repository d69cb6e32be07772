# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in labs whose trees or rings a controller sets up."""

import contextlib
import os
import pathlib
import tempfile
from unittest import mock

import support


@contextlib.contextmanager
def job(lab: support.Lab, *options, number: int = 1, more: str = ""):
    """A job on the lab's hosts, of PANAMA unless the options say so; the workers that are started
    meanwhile are told of it. `more` is said of it in its file."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "fabric.toml"
        file.write_text(lab.tool("fabric", "--job", number, *options) + more)
        done = support.ctl("fabric", "apply", file, "--env", directory)
        if done.returncode != 0:
            raise AssertionError(f"fabric apply: {done.stderr}")
        lines = [line for path in pathlib.Path(directory).glob("*.env")
                 for line in path.read_text().splitlines()]
        told = dict(line.split("=", 1) for line in lines if "=" in line)
        with mock.patch.dict(os.environ, told):
            yield told
        # Its workers have ended, but not long ago.
        removed = support.ctl("fabric", "remove", "--force", file)
        if removed.returncode != 0:
            raise AssertionError(f"fabric remove: {removed.stderr}")


def summed(lab: support.Lab, engine: str = "panama") -> int:
    """Results that switches made."""
    return sum(row["figures"]["results_total"] for row in lab.rows("engine")
               if row["engine"] == engine)
