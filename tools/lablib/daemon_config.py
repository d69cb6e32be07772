# SPDX-License-Identifier: BSD-3-Clause
"""Derives the configuration of a lab's daemon from the one in conf/."""

import dataclasses
import json
import os
import pathlib
import re
import tomllib

from . import LabError, description

_RATE_OF_PORTS = re.compile(r"switch\.port(\[\w+\])?\.rate")


@dataclasses.dataclass(frozen=True)
class Overrides:
    """Settings that `lab up` changes in every daemon's configuration; None leaves one as it is."""

    rate: str | None = None  # of every port; "none": not shaped
    cores: str | None = None  # "0,1"
    idle: str | None = None
    timeout: str | None = None  # of Canary
    descriptors: int | None = None
    mtu: int | None = None  # of every port; hosts get the same
    settings: tuple[str, ...] = ()  # "switch.port.queue=64KiB": any key; these come last

    def merged(self, other: "Overrides") -> "Overrides":
        """Returns these settings, with those of `other` on top."""
        changes = {field.name: getattr(other, field.name) for field in dataclasses.fields(other)
                   if getattr(other, field.name) is not None}
        keys: dict[str, str] = {}
        for setting in self.settings + other.settings:
            key = setting.partition("=")[0]
            keys.pop(key, None)  # what is said last comes last: it may be about more than what was said between
            keys[key] = setting
        if other.rate is not None:
            keys = {key: setting for key, setting in keys.items()
                    if setting in other.settings or not _RATE_OF_PORTS.fullmatch(key)}
        return dataclasses.replace(self, **changes | {"settings": tuple(keys.values())})


def derive(source: pathlib.Path, control: pathlib.Path, overrides: Overrides, met: set[str]) -> dict:
    """`met` gets the settings that meant a table."""
    try:
        config = tomllib.loads(source.read_text())
    except (OSError, ValueError) as error:
        raise LabError(f"{source}: {error}") from error
    daemon = config.setdefault("daemon", {})
    if not isinstance(daemon, dict):
        raise LabError(f"{source}: 'daemon' is to be a table, [daemon]")
    daemon["control"] = str(control)
    if overrides.cores is not None:
        daemon["cores"] = _cores(overrides.cores)
    elif isinstance(daemon.get("cores"), list):
        daemon["cores"] = _allowed(daemon["cores"])
    if overrides.idle is not None:
        daemon["idle"] = overrides.idle
    for switch in description.tables(config.get("switch")):
        _override_switch(switch, overrides)
    met.update(setting for setting in overrides.settings if _set(config, setting))
    return config


def text(source: pathlib.Path, config: dict) -> str:
    """Returns the text of the configuration that was derived from `source`."""
    return f"# Derived from {source} by tools/lab.\n" + _table(config, [])


def _override_switch(switch: dict, overrides: Overrides) -> None:
    if overrides.rate is not None:
        for port in description.tables(switch.get("port")):
            port.pop("rate", None)
            if overrides.rate != "none":
                port["rate"] = overrides.rate
    if overrides.mtu is not None:
        for port in description.tables(switch.get("port")):
            port["mtu"] = overrides.mtu
    if isinstance(switch.get("canary"), dict):
        if overrides.timeout is not None:
            switch["canary"]["timeout"] = overrides.timeout
        if overrides.descriptors is not None:
            switch["canary"]["descriptors"] = overrides.descriptors


_STEP = re.compile(r"(\w+)(?:\[(\w+)\])?")


def require_tables(met: set[str], overrides: Overrides) -> None:
    """Refuses a setting that meant no table of any daemon."""
    for setting in overrides.settings:
        if setting not in met:
            path = setting.partition("=")[0].rpartition(".")[0]
            raise LabError(f"--set {setting}: no table is meant by {path}; the word in brackets is a key "
                           "that tables have")


def _set(config: dict, setting: str) -> bool:
    """Sets a key in every table that the path means; {n} in the value stands for the number of the table,
    from 1. Says whether there was one."""
    path, _, text = setting.partition("=")
    tables = _meant(config, setting)
    for number, table in enumerate(tables, 1):
        table[path.rpartition(".")[2]] = _parsed(text.replace("{n}", str(number)))
    return bool(tables)


def _meant(config: dict, setting: str) -> list[dict]:
    """Returns the tables whose key is set, and makes those in between. `port[mac]` means the ports that have
    a mac."""
    path, equals, _ = setting.partition("=")
    steps = [_STEP.fullmatch(step) for step in path.split(".")]
    if not equals or not all(steps) or steps[-1][2]:
        raise LabError(f"--set {setting}: give KEY=VALUE, as in switch.selection.trees=4")
    tables = [config]
    for name, needed in (step.groups() for step in steps[:-1]):
        below = [table.setdefault(name, {}) for table in tables]
        tables = [table for entry in below
                  for table in (entry if isinstance(entry, list) else [entry])]
        if not all(isinstance(table, dict) for table in tables):
            raise LabError(f"--set {setting}: '{name}' is not a table")
        tables = [table for table in tables if needed is None or needed in table]
    return tables


def _parsed(text: str):
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # a word or a quantity needs no quotes


def _allowed(cores: list[int]) -> list[int]:
    """Returns these CPUs, or as many that this process may use, as in a container that has others."""
    allowed = sorted(os.sched_getaffinity(0))
    return cores if set(cores) <= set(allowed) else allowed[:len(cores)]


def _cores(text: str) -> list[int]:
    try:
        return [int(core) for core in text.split(",")]
    except ValueError as error:
        raise LabError(f"--cores {text}: give CPU numbers, as in 0,1") from error


def _is_tables(value) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _table(table: dict, path: list[str]) -> str:
    """Returns the TOML text of a table: plain values first, then tables with a heading of their own."""
    text = ""
    for key, value in table.items():
        if not isinstance(value, dict) and not _is_tables(value):
            text += f"{_key(key)} = {_value(value)}\n"
    for key, value in table.items():
        below = [*path, _key(key)]
        if isinstance(value, dict):
            text += f"\n[{'.'.join(below)}]\n" + _table(value, below)
        elif _is_tables(value):
            for entry in value:
                text += f"\n[[{'.'.join(below)}]]\n" + _table(entry, below)
    return text


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)


def _value(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value)  # a JSON string is a TOML basic string
    return repr(value)
