# SPDX-License-Identifier: BSD-3-Clause
"""Describes a lab that is up in the format of `tributaryctl fabric`: switches and their control sockets,
links, hosts, and a job."""

import json
import tomllib

from . import state
from .description import Lab


def text(lab: Lab, job: int | None = None, hosts: list[str] | None = None, trees: int | str = "all",
         without: tuple[str, ...] = (), **of_job) -> str:
    """Returns FABRIC.toml of the lab, except the switches `without`, with a job on `hosts` (default: all).
    `of_job` has further keys of the job; those that are None are left out."""
    record = state.running(lab.name)
    configs = {daemon.name: tomllib.loads(
        (state.directory(lab.name) / f"{daemon.name}.toml").read_text()) for daemon in lab.daemons}
    place = {port["interface"]: f"{switch['name']}:{port['name']}"
             for config in configs.values() for switch in config["switch"]
             for port in switch["port"] if "interface" in port}
    out = "version = 1\n"
    for name, config in configs.items():
        for switch in config["switch"]:
            if switch["name"] not in without:
                address = {"address": switch["address"]} if "address" in switch else {}
                out += _table("switch", name=switch["name"], control=record["sockets"][name],
                              **address)
    links = [(link["a"], link["b"]) for config in configs.values()
             for link in config.get("link", [])]
    links += [(place[cable.a], place[cable.b]) for cable in lab.cables]
    for a, b in links:
        if not {a.split(":")[0], b.split(":")[0]} & set(without):
            out += _table("link", a=a, b=b)
    for host in lab.hosts:
        out += _table("host", name=host.name, port=place[host.switch_interface],
                      address=str(host.address.ip))
    if job is not None:
        more = {key: value for key, value in of_job.items() if value is not None}
        out += _table("job", id=job, hosts=hosts or [host.name for host in lab.hosts], trees=trees,
                      **more)
    return out


def _table(heading: str, /, **values) -> str:
    return f"\n[[{heading}]]\n" + "".join(f"{key} = {_text(value)}\n" for key, value in values.items())


def _text(value) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_text(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)
