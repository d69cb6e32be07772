# SPDX-License-Identifier: BSD-3-Clause
"""The background traffic: what one host sends arrives at another, and bad input is refused."""

import json
import signal
import subprocess
import time
import unittest

import support

HOSTS = ("l1h1", "l2h2", "l3h1", "l4h2")
BENCH = support.BUILD / "apps" / "tributary-bench" / "tributary-bench"


class Background(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = support.Lab("fat-tree-8").__enter__()
        cls.addClassCleanup(cls.lab.__exit__)
        cls.peers = ",".join(cls.lab.state["hosts"][host] for host in HOSTS)

    def start(self, *options) -> dict[str, subprocess.Popen]:
        children = {}
        for host in HOSTS:
            argv = self.lab.command(host, BENCH, "background", "--peers", self.peers, "--json", *options)
            children[host] = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                              text=True)
            self.addCleanup(children[host].kill)
        return children

    def until_all_receive(self, packets: int) -> None:
        """So many more each, whenever they have begun."""
        before = self.arrived()
        support.until(lambda: min(after - earlier for after, earlier in
                                  zip(self.arrived(), before)) > packets, what="the traffic")

    def arrived(self) -> list[int]:
        rows = {(row["switch"], row["port"]): row["counters"]["tx_packets_total"]
                for row in self.lab.rows("port")}
        return [rows[f"leaf{host[1]}", host[2:]] for host in HOSTS]

    def end(self, children) -> dict[str, dict]:
        for child in children.values():
            child.send_signal(signal.SIGTERM)
        return self.documents(children)

    def documents(self, children) -> dict[str, dict]:
        found = {}
        for host, child in children.items():
            text, _ = child.communicate(timeout=support.PATIENCE_S)
            self.assertEqual(child.returncode, 0, host)
            found[host] = json.loads(text)
        return found

    def total(self, documents, what: str) -> int:
        return sum(document[what] for document in documents.values())

    def test_uniform_traffic_arrives_and_changes_peers(self):
        # What comes before a receiver has begun or after it has ended is nobody's.
        children = self.start("--rate", "30Mbit", "--duration", "80000")
        self.until_all_receive(5000)
        documents = self.end(children)
        sent = self.total(documents, "sent_packets")
        received = self.total(documents, "received_packets")
        self.assertLessEqual(received, sent)
        self.assertEqual(self.total(documents, "foreign_packets"), 0)
        for host, document in documents.items():
            self.assertGreater(document["received_packets"], 1000, host)
            self.assertGreater(document["peer_changes"], 20, host)
            self.assertLess(document["sent_line_bps"], 31e6, host)
            self.assertEqual(document["asked_line_bps"], 30_000_000)

    def test_in_a_permutation_everybody_receives_what_one_sends(self):
        children = self.start("--rate", "30Mbit", "--pattern", "permutation", "--period", "3600",
                              "--share", "0.5", "--duration", "80000")
        self.until_all_receive(1000)
        for host, document in self.end(children).items():
            self.assertGreater(document["received_packets"], 100, host)
            self.assertLess(document["sent_line_bps"], 16e6, host)

    def test_it_ends_by_itself_with_a_report(self):
        children = self.start("--rate", "5Mbit", "--duration", "2")
        for host, document in self.documents(children).items():
            self.assertGreater(document["sent_packets"], 10, host)
            self.assertGreaterEqual(document["seconds"], 2, host)

    def refused(self, *arguments) -> str:
        done = self.lab.exec(HOSTS[0], BENCH, "background", *arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_bad_input_is_refused(self):
        peers, rate = ("--peers", self.peers), ("--rate", "5Mbit")
        self.assertIn("--peers is required", self.refused(*rate))
        self.assertIn("--rate is required", self.refused(*peers))
        self.assertIn("MB unit not recognized", self.refused(*peers, "--rate", "5MB"))
        self.assertIn("is not an IPv4 address", self.refused("--peers", "h1,h2", *rate))
        self.assertIn("any address of this host", self.refused("--peers", "1.1.1.1,2.2.2.2", *rate))
        self.assertIn("named twice", self.refused("--peers", "1.1.1.1,1.1.1.1", *rate))
        self.assertIn("17000 is a protocol's: 17000 to 17255 (canary), 17256 (panama)",
                      self.refused(*peers, *rate, "--port", "17000"))
        self.assertIn("--share", self.refused(*peers, *rate, "--share", "2"))


if __name__ == "__main__":
    support.main()
