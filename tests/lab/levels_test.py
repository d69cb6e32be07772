# SPDX-License-Identifier: BSD-3-Clause
"""Canary in a fat tree of three levels: what goes over the links between spines and cores."""

import pathlib
import tempfile
import unittest

import support

LINKS = 16  # one from each of eight spines to each of its two cores
NAME = "fat-tree-3-level"


def without_seeds(directory: str) -> pathlib.Path:
    """The lab with a configuration that says nothing of seeds."""
    lines = (support.ROOT / "conf" / f"{NAME}.toml").read_text().splitlines()
    config = pathlib.Path(directory) / f"{NAME}.toml"
    config.write_text("\n".join(line for line in lines if not line.startswith("selection =")))
    lab = pathlib.Path(directory) / "lab.toml"
    lab.write_text((support.ROOT / "conf" / "labs" / f"{NAME}.toml").read_text()
                   .replace(f"../{NAME}.toml", str(config)))
    return lab


class Levels(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.lab = support.Lab(str(without_seeds(directory.name)), name=NAME).__enter__()
        self.addCleanup(self.lab.__exit__)

    def sent(self) -> list[int]:
        """Packets, up the links and down them."""
        return [row["counters"]["tx_packets_total"] for row in self.lab.rows("port")
                if "spine" in row["switch"] and row["port"].startswith("core")
                or row["switch"].startswith("core")]

    def shares(self, size: str) -> list[float]:
        """Of the mean, that each direction of each link carried of four exact allreduces of 16 workers: of all
        packets, whatever they are."""
        before = self.sent()
        document = self.lab.reduce("-d", "i32,f32", "-o", "sum", "-b", size, "-e", size, "-n", "2",
                                   "-w", "0", "--algorithm", "canary")
        self.assertEqual(document["ranks"], 16)
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        packets = [after - was for after, was in zip(self.sent(), before, strict=True)]
        self.assertEqual(len(packets), 2 * LINKS)
        return [count * len(packets) / sum(packets) for count in packets]

    def test_with_a_seed_for_each_level_all_links_are_used_alike(self):
        derived = (self.lab.directory / f"{NAME}.toml").read_text()
        self.assertEqual([derived.count(f"reduction_seed = {level}\n") for level in (1, 2)], [8, 8])
        # A block goes over one of four cores, by its hash, and takes each direction of that core's links once. Of n
        # blocks a core has n/4, with a standard deviation of sqrt(3/n) of that: 3 % of 2980 blocks, so that 20 % are
        # more than six of them. A queue that is full moves blocks to the other core of the spine, and a block that
        # is tried again takes links once more.
        shares = self.shares("1M")
        self.assertGreater(min(shares), 0.8, shares)
        self.assertLess(max(shares), 1.2, shares)

    def test_with_one_seed_for_all_levels_half_of_the_links_are_idle(self):
        # By the hash alone: who evades full queues uses the idle links as well, if seldom.
        done = support.run(support.LAB, "reload", self.lab.name,
                           "--set", "switch.selection.reduction_seed=0",
                           "--set", "switch.selection.reduction=ecmp")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("levels 1 and 2 have the same reduction_seed, 0", done.stderr)
        idle = [share for share in self.shares("512K") if share < 0.2]
        self.assertEqual(len(idle), LINKS)
        self.lab.assert_balanced(self)

    def test_a_controller_gives_seeds_that_outlive_the_daemon(self):
        self.lab.tool("reload", "--set", "switch.selection.reduction_seed=0")
        fabric = self.lab.directory / "fabric.toml"
        fabric.write_text(self.lab.tool("fabric").partition("[[job]]")[0])
        done = support.ctl("fabric", "apply", fabric)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gave reduction_seed 1 to p1leaf1", done.stdout)
        for change in ((), ("reload",), ("kill", NAME), ("restart", NAME)):
            if change:
                self.lab.tool(*change)
            if change[:1] != ("kill",):
                seeds = {(row["switch"][2:6], row["reduction_seed"]) for row in self.lab.rows("switch")
                         if row["switch"].startswith("p")}
                self.assertEqual(seeds, {("leaf", 1), ("spin", 2)}, change)
        self.assertEqual(support.ctl("fabric", "apply", fabric).stdout, "nothing to change\n")


if __name__ == "__main__":
    support.main()
