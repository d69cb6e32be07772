# SPDX-License-Identifier: BSD-3-Clause
"""Tests that check-links fails on links that lead nowhere, names file and line, and passes otherwise."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[1] / "check-links"


def run(files):
    """Runs the tool on a tree of {path: text}; returns (exit code, messages)."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        done = subprocess.run([sys.executable, TOOL, directory], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stderr


class CheckLinks(unittest.TestCase):

    def test_links_that_lead_somewhere(self):
        self.assertEqual(run({
            "README.md": "# A\n\n## [[x.y]]: `of` z\n\n[b](docs/b.md#and-one-more-1), [a](#xy-of-z),\n"
                         "[c\nd](tools/c), [e](https://example.org/none)\n",
            "docs/b.md": "## And one more\n\n## And one more\n\n[up](../README.md)\n",
            "tools/c": "",
        }), (0, ""))

    def test_links_that_lead_nowhere(self):
        for link, message in (("c.md", "there is no c.md"),
                              ("../b.md", "there is no ../b.md"),
                              ("docs/b.md#c", "docs/b.md has no heading for #c"),
                              ("#c", "README.md has no heading for #c")):
            with self.subTest(link):
                self.assertEqual(
                    run({"README.md": f"[b](docs/b.md)\n\n[c]({link})\n", "docs/b.md": "# B\n"}),
                    (1, f"README.md:3: {message}\n"))

    def test_pages_that_no_link_leads_to(self):
        self.assertEqual(run({"README.md": "# A\n", "docs/b.md": "[c](c.md)\n", "docs/c.md": ""}),
                         (1, "docs/b.md:1: no link leads here from README.md\n"
                             "docs/c.md:1: no link leads here from README.md\n"))


if __name__ == "__main__":
    unittest.main()
