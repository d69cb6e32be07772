# SPDX-License-Identifier: BSD-3-Clause
"""Derives the configuration that a lab's daemon runs with from the one in conf/."""

import dataclasses
import json
import pathlib
import tomllib

from . import LabError


@dataclasses.dataclass(frozen=True)
class Overrides:
    """What `lab up` may change in every daemon's configuration; None leaves it as it is."""

    rate: str | None = None  # of every port; "none": not shaped
    cores: str | None = None  # "0,1"
    idle: str | None = None
    timeout: str | None = None  # of Canary
    descriptors: int | None = None
    mtu: int | None = None  # of every port; hosts follow


def derive(source: pathlib.Path, control: pathlib.Path, overrides: Overrides) -> str:
    try:
        config = tomllib.loads(source.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise LabError(f"{source}: {error}") from error
    daemon = config.setdefault("daemon", {})
    daemon["control"] = str(control)
    if overrides.cores is not None:
        daemon["cores"] = _cores(overrides.cores)
    if overrides.idle is not None:
        daemon["idle"] = overrides.idle
    for switch in config.get("switch", []):
        _override_switch(switch, overrides)
    return f"# Derived from {source} by tools/lab.\n" + _table(config, [])


def _override_switch(switch: dict, overrides: Overrides) -> None:
    if overrides.rate is not None:
        for port in switch.get("port", []):
            port.pop("rate", None)
            if overrides.rate != "none":
                port["rate"] = overrides.rate
    if overrides.mtu is not None:
        for port in switch.get("port", []):
            port["mtu"] = overrides.mtu
    if "canary" in switch:
        if overrides.timeout is not None:
            switch["canary"]["timeout"] = overrides.timeout
        if overrides.descriptors is not None:
            switch["canary"]["descriptors"] = overrides.descriptors


def _cores(text: str) -> list[int]:
    try:
        return [int(core) for core in text.split(",")]
    except ValueError as error:
        raise LabError(f"--cores {text}: give CPU numbers, as in 0,1") from error


def _is_tables(value) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _table(table: dict, path: list[str]) -> str:
    """TOML text of a table: plain values first, then what has a heading of its own."""
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
