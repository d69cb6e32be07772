# SPDX-License-Identifier: BSD-3-Clause
"""Traffic classes: who gets how much of a line, and what each class counts."""

import contextlib
import pathlib
import sys
import time
import unittest

import support
from panama_job import job

CS1_TOS = 8 << 2
CLASSES = ('switch.class=[{name="bulk", dscp="cs1", weight=3}, {name="sums", dscp="cs4"}, '
           '{name="rest"}]')
LINE = ("--set", "switch.port.rate=20Mbit", "--set", CLASSES)
FRAMES = pathlib.Path(__file__).resolve().parent / "tagged_frames.py"
TOLD_BY_TAGS = 'switch.class=[{name="tagged", pcp="3,4"}, {name="bulk", dscp="cs1", pcp="7"}, {name="rest"}]'


class Classes(unittest.TestCase):
    def lab(self, *options) -> support.Lab:
        lab = support.Lab("star-4", *options).__enter__()
        self.addCleanup(lab.__exit__)
        return lab

    def counts(self, lab: support.Lab, figure: str, port: str = "h1") -> dict[str, int]:
        return {row["class"]: row[figure] for row in lab.rows("class") if row["port"] == port}

    def sent(self, lab: support.Lab, seconds: float) -> dict[str, int]:
        """Bytes of each class that left to h1 in so long."""
        before = self.counts(lab, "tx_bytes_total")
        time.sleep(seconds)
        return {name: count - before[name]
                for name, count in self.counts(lab, "tx_bytes_total").items()}

    def test_tcp_flows_share_a_line_by_the_weights_of_their_classes(self):
        support.require("iperf3")
        lab = self.lab(*LINE)
        with contextlib.ExitStack() as stack:
            for port, (client, tos) in enumerate((("h2", CS1_TOS), ("h3", 0)), 5201):
                stack.enter_context(lab.background("h1", "iperf3", "-s", "-p", port))
                support.until(lambda port=port: f":{port} " in lab.exec("h1", "ss", "-ltn").stdout)
                stack.enter_context(lab.background(client, "iperf3", "-c", "10.0.0.1", "-p", port,
                                                   "-S", tos, "-t", 86400))

            def is_shared() -> bool:
                # While both have something to send, whatever they had of the processors.
                sent = self.sent(lab, 2.0)
                return sent["rest"] > 0 and 2.7 < sent["bulk"] / sent["rest"] < 3.3

            support.until(is_shared, what="a line that is shared three to one")

    def test_reductions_have_the_class_that_they_ask_for(self):
        lab = self.lab(*LINE)
        before = self.counts(lab, "tx_packets_total")
        document = lab.reduce("-b", "256K", "-e", "256K", "-n", "2", "--algorithm", "canary",
                              "--dscp", "32")
        self.assertEqual(support.wrong(document), 0)
        support.assert_switches_reduce(self, document)
        after = self.counts(lab, "tx_packets_total")
        self.assertGreater(after["sums"] - before["sums"], 300)
        self.assertEqual(after["bulk"], before["bulk"])
        lab.assert_balanced(self)

    def test_contributions_sums_and_results_of_flare_have_the_class_that_ranks_ask_for(self):
        lab = self.lab(*LINE, "--set", "switch.flare.working_memory=8192")
        with job(lab, "--algorithm", "flare"):
            before = self.counts(lab, "tx_packets_total")
            document = lab.reduce("-b", "256K", "-e", "256K", "-n", "2", "--algorithm", "flare", "--fallback", "error",
                                  "--dscp", "32")
            after = self.counts(lab, "tx_packets_total")
        self.assertEqual(support.wrong(document), 0)
        self.assertGreater(after["sums"] - before["sums"], 300)
        self.assertEqual(after["bulk"], before["bulk"])
        lab.assert_balanced(self)

    def test_frames_have_the_class_of_their_tags_by_ports_that_trust_them(self):
        # Frames leave without their tags, to hosts in the VLAN of the port.
        lab = self.lab("--set", "switch.port.rate=20Mbit", "--set", "switch.port.vlan=10", "--set",
                       "switch.bridge_vlan=10", "--set", TOLD_BY_TAGS, "--set", "switch.port.trust=pcp")
        self.assertEqual({row["trust"] for row in lab.rows("port")}, {"pcp"})
        self.assertEqual({row["class"]: (row["dscp"], row["pcp"]) for row in lab.rows("class")},
                         {"tagged": (None, [3, 4]), "bulk": (["cs1"], [7]), "rest": (None, None)})
        before = self.counts(lab, "tx_packets_total")
        for tag, name in (("3/0", "tagged"), ("4/0", "tagged"), ("7/0", "bulk")):
            sent = lab.exec("h2", sys.executable, FRAMES, "send", "eth0", "mark", tag)
            self.assertEqual(sent.returncode, 0, sent.stderr)
            before[name] += 1
            support.until(lambda name=name: self.counts(lab, "tx_packets_total")[name] == before[name],
                          what=f"a frame with the tag {tag} in the class {name}")
        # A codepoint counts for nothing there: without a tag the priority is 0.
        ping = lab.exec("h2", "ping", "-c", "5", "-i", "0.2", "-Q", str(CS1_TOS), "10.0.0.1")
        self.assertEqual(ping.returncode, 0, ping.stdout)
        after = self.counts(lab, "tx_packets_total")
        self.assertEqual({name: after[name] for name in ("tagged", "bulk")},
                         {name: before[name] for name in ("tagged", "bulk")})
        self.assertGreaterEqual(after["rest"] - before["rest"], 5)
        lab.assert_balanced(self)

    def test_classes_come_and_go_with_a_reload(self):
        lab = self.lab("--set", "switch.port.rate=20Mbit")
        self.assertEqual(lab.rows("class"), [])
        lab.tool("reload", "--set", CLASSES)
        self.assertEqual({row["class"]: (row["dscp"], row["weight"], row["ecn_threshold_packets"])
                          for row in lab.rows("class")},
                         {"bulk": (["cs1"], 3, 85), "sums": (["cs4"], 1, 85), "rest": (None, 1, 85)})
        for row in lab.rows("class"):
            self.assertEqual(row["queue_capacity_bytes"], (1 << 20) // 3, row)
        lab.assert_no_ping_is_lost(self, "h2", "10.0.0.1", 5)
        self.assertGreaterEqual(self.counts(lab, "tx_packets_total")["rest"], 5)
        lab.tool("reload", "--set", "switch.class=[]")
        self.assertEqual(lab.rows("class"), [])
        lab.assert_no_ping_is_lost(self, "h2", "10.0.0.1", 5)

    def test_thresholds_of_flow_control_are_shown_as_a_reload_leaves_them(self):
        lab = self.lab("--set", "switch.port.rate=200Mbit")
        self.assertEqual([row["thresholds"] for row in lab.rows("port")], [None] * 4)
        lab.tool("reload", "--set", "switch.port.flow_control=pause")
        # The example of docs/reference/configuration-ports.md.
        self.assertEqual([row["thresholds"] for row in lab.rows("port")],
                         [{"xoff_bytes": 150900, "xon_bytes": 75450, "headroom_bytes": 78028,
                           "pfc_priorities": None}] * 4)
        lab.assert_no_ping_is_lost(self, "h2", "10.0.0.1", 5)


if __name__ == "__main__":
    support.main()
