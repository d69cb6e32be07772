# SPDX-License-Identifier: BSD-3-Clause
"""Handlers in the daemons of a lab."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile

import support

EXAMPLES = ("complex_product", "kahan_sum", "saturating_add", "sketch_merge", "topk_merge")
_TRIES = 20
_LATE = 5  # tributaryctl's exit code


@contextlib.contextmanager
def directory(*more: pathlib.Path):
    """With the examples and more files in it. Nobody but root writes there, whoever the build directory belongs to."""
    examples = (support.BUILD / "examples" / "handlers" / f"{example}.so" for example in EXAMPLES)
    with tempfile.TemporaryDirectory(prefix="tributary-handlers-", dir="/run") as name:
        for built in (*examples, *more):
            file = pathlib.Path(name) / built.name
            shutil.copyfile(built, file)
            file.chmod(0o644)
        yield pathlib.Path(name)


def allowed(home: pathlib.Path) -> tuple[str, str]:
    """What `tools/lab up` is told, for daemons that take files from there."""
    return "--set", f"daemon.handler_directory={home}"


def try_to_load(lab: support.Lab, number, source, element_type: str | None = None,
                daemon: str | None = None) -> subprocess.CompletedProcess:
    """An expression, if a type is given, else a file."""
    how = (source,) if element_type is None else ("--expression", source, "--type", element_type)
    return lab.ctl("handler", "load", number, *how, daemon=daemon)


def load(lab: support.Lab, number, source, element_type: str | None = None,
         daemon: str | None = None) -> None:
    done = try_to_load(lab, number, source, element_type, daemon)
    if done.returncode != 0:
        raise AssertionError(f"handler load {number}: {done.returncode} {done.stderr}")


def unload(lab: support.Lab, number, daemon: str | None = None) -> None:
    """Again, as tributaryctl advises, where the machine keeps a packet core from its CPU."""
    for _ in range(_TRIES):
        done = lab.ctl("handler", "unload", number, daemon=daemon)
        if done.returncode != _LATE:
            break
    if done.returncode != 0:
        raise AssertionError(f"handler unload {number}: {done.returncode} {done.stderr}")


def listed(lab: support.Lab, daemon: str | None = None) -> dict[int, dict]:
    """By their numbers."""
    return {row["number"]: row for row in lab.rows("handler", "list", daemon=daemon)}
