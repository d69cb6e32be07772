# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tributaryd that is measured."""

import contextlib
import itertools
import pathlib

from . import processes
from .control import Control, listens
from .setting import Setting

_HEAD = """version = 1
[daemon]
cores = {cores}
idle = "{idle}"
packets = {packets}
hugepages = "never"
control = "{control}"
log_level = "warning"
[[switch]]
name = "s"
id = 1
"""

_numbers = itertools.count()


class Daemon:
    def __init__(self, pid: int, control: Control):
        self.pid = pid
        self.control = control

    def figures(self) -> dict[str, int]:
        """Returns the figures of the only engine."""
        return self.control.ask("engine.list")["rows"][0]["figures"]

    def core_counters(self) -> dict[str, int]:
        """Returns the counters, summed up over all cores."""
        cores = self.control.ask("daemon.status")["cores"]
        return {name: sum(core[name] for core in cores)
                for name in cores[0] if name.endswith("_total")}


def configuration(setting: Setting, switch: str, cores: list[int] | None = None, idle: str = "poll",
                  packets: int = 16384) -> pathlib.Path:
    """Writes a file with `switch` as the body of its only [[switch]]; the control socket is beside it."""
    config = setting.directory / f"tributaryd-{next(_numbers)}.toml"
    config.write_text(_HEAD.format(cores=[setting.switch_cpu] if cores is None else cores, idle=idle,
                                   packets=packets, control=config.with_suffix(".sock")) + switch)
    return config


@contextlib.contextmanager
def tributaryd(setting: Setting, switch: str, cores: list[int] | None = None, idle: str = "poll",
               packets: int = 16384, prefix: tuple = ()):
    """Runs a tributaryd with `switch` as the body of its only [[switch]]; `prefix` goes before the program."""
    config = configuration(setting, switch, cores, idle, packets)
    log, control = config.with_suffix(".log"), config.with_suffix(".sock")
    cpus = sorted({setting.other_cpu, *(cores or [setting.switch_cpu])})
    argv = processes.pinned(",".join(map(str, cpus)), *prefix, setting.program("tributaryd"),
                            "--config", config)
    with processes.running(argv, log) as child:
        processes.wait_for(child, log, lambda: listens(control))
        with contextlib.closing(Control(control)) as connection:
            yield Daemon(child.pid, connection)
