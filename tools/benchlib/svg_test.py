#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from benchlib import svg  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Svg(unittest.TestCase):
    def test_paths_are_of_one_line_in_tenths(self):
        self.assertEqual(svg.compact('<path d="M 0 288.04 \nL 504.26 -0.01 \nz\n" style="opacity: 0.25"/>'),
                         '<path d="M 0 288 L 504.3 0 z" style="opacity: 0.25"/>\n')

    def test_what_scales_keeps_its_digits(self):
        self.assertEqual(svg.compact('<use transform="translate(1.26 2.04) scale(0.05)" x="3.99"/>'),
                         '<use transform="translate(1.3 2) scale(0.05)" x="4"/>\n')

    def test_nothing_is_left_that_nobody_sees(self):
        self.assertEqual(svg.compact("<svg>\n <metadata>\n a\n </metadata>\n\n <!-- b -->\n <g/>\n</svg>"),
                         "<svg>\n<g/>\n</svg>\n")

    def test_figures_of_the_documents_are_small(self):
        for path in (ROOT / "docs" / "figures").glob("*.svg"):
            text = path.read_text()
            self.assertEqual(svg.compact(text), text, f"{path}: draw it again with tools/plot-...")


if __name__ == "__main__":
    unittest.main()
