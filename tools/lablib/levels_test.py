#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from lablib import description, levels  # noqa: E402


def load(name: str) -> tuple[description.Lab, dict[str, dict]]:
    lab = description.load(description.find(name))
    return lab, {daemon.name: tomllib.loads(daemon.config.read_text()) for daemon in lab.daemons}


def switches(configs: dict[str, dict], kind: str = "") -> list[dict]:
    return [switch for config in configs.values() for switch in config["switch"] if kind in switch["name"]]


def seeds(configs: dict[str, dict], kind: str) -> set:
    return {switch.get("selection", {}).get("reduction_seed") for switch in switches(configs, kind)}


def three_levels() -> tuple[description.Lab, dict[str, dict]]:
    """Returns the lab without the seeds of its file."""
    lab, configs = load("fat-tree-3-level")
    for switch in switches(configs):
        switch.pop("selection", None)
    return lab, configs


class Seeds(unittest.TestCase):
    def test_each_level_that_chooses_gets_one_of_its_own(self):
        lab, configs = three_levels()
        self.assertIn("levels 1 and 2 have the same reduction_seed, 0", levels.faults(lab, configs)[0])
        levels.add_seeds(lab, configs)
        self.assertEqual([seeds(configs, kind) for kind in ("leaf", "spine", "core")], [{1}, {2}, {None}])
        self.assertEqual(levels.faults(lab, configs), [])

    def test_what_is_configured_stays_and_holds_for_the_level(self):
        lab, configs = three_levels()
        switches(configs, "p1leaf1")[0]["selection"] = {"reduction_seed": 2, "trees": 4}
        levels.add_seeds(lab, configs)
        self.assertEqual([seeds(configs, kind) for kind in ("leaf", "spine")], [{2}, {3}])
        self.assertEqual(switches(configs, "p1leaf1")[0]["selection"]["trees"], 4)

    def test_a_zero_is_configured_too(self):
        lab, configs = three_levels()
        for switch in switches(configs):
            switch["selection"] = {"reduction_seed": 0}
        levels.add_seeds(lab, configs)
        self.assertEqual(seeds(configs, ""), {0})
        self.assertEqual(len(levels.faults(lab, configs)), 1)

    def test_switches_of_a_level_that_differ_are_told_of(self):
        lab, configs = load("fat-tree-3-level")
        self.assertEqual(levels.faults(lab, configs), [])
        switches(configs, "p2spine1")[0]["selection"]["reduction_seed"] = 7
        switches(configs, "p2spine2")[0].pop("selection")
        levels.add_seeds(lab, configs)
        self.assertEqual(seeds(configs, "spine"), {2, 7, None})
        self.assertIn("switches of level 2 have different reduction_seeds (0, 2, 7)", levels.faults(lab, configs)[0])

    def test_where_only_leaves_choose_nothing_is_needed(self):
        for path in sorted(description.LABS.glob("*.toml")):
            if path.stem != "fat-tree-3-level":
                with self.subTest(lab=path.stem):
                    lab, configs = load(path.stem)
                    before = str(configs)
                    levels.add_seeds(lab, configs)
                    self.assertEqual(str(configs), before)
                    self.assertEqual(levels.faults(lab, configs), [])


class SeveralDaemons(unittest.TestCase):
    def test_cables_are_links_too(self):
        """The leaf has two spines above it, and each spine two cores, all in daemons of their own."""
        def port(name: str) -> dict:
            return {"name": name, "interface": name}

        wires = [("leaf", spine) for spine in ("spine1", "spine2")]
        wires += [(f"spine{n}", f"core{n}{core}") for n in (1, 2) for core in (1, 2)]
        ports = {}
        for a, b in wires:
            ports.setdefault(a, []).append(port(f"{a}-{b}"))
            ports.setdefault(b, []).append(port(f"{b}-{a}"))
        ports["leaf"].append(port("h1"))
        configs = {name: {"switch": [{"name": name, "port": its}]} for name, its in ports.items()}
        lab, _ = load("star-4")
        host = next(host for host in lab.hosts if host.switch_interface == "h1")
        cables = tuple(description.Cable(f"{a}-{b}", f"{b}-{a}") for a, b in wires)
        lab = description.Lab("cabled", lab.source, (), (host,), cables)
        levels.add_seeds(lab, configs)
        self.assertEqual([seeds(configs, kind) for kind in ("leaf", "spine", "core")], [{1}, {2}, {None}])


if __name__ == "__main__":
    unittest.main()
