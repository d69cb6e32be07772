# SPDX-License-Identifier: BSD-3-Clause
"""Writes SVG figures that stay small in the history of git: each element has a line, text is text, coordinates have
tenths of a point, and the same data give the same file."""

import io
import pathlib
import re

NUMBER = re.compile(r"-?\d+\.\d+")
# Attributes with coordinates. Widths, opacities and scales keep their digits.
COORDINATES = re.compile(r'(?<=[ (])(?:d|points|x|y|x1|y1|x2|y2|width|height)="[^"]*"'
                         r"|translate\([^)]*\)")


def save(figure, path: pathlib.Path) -> None:
    """Writes a figure of matplotlib; other formats than SVG are left as they are."""
    if path.suffix != ".svg":
        figure.savefig(path, dpi=120)
        return
    # Imported here, because a caller that only compacts needs no matplotlib.
    from matplotlib import rc_context  # pylint: disable=import-outside-toplevel
    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "tributary"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None,
                                                     "Format": None, "Type": None})
    path.write_text(compact(text.getvalue()))


def compact(svg: str) -> str:
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<!DOCTYPE[^>]*>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'"[^"]*"', lambda value: f'"{" ".join(value.group()[1:-1].split())}"', svg)
    svg = COORDINATES.sub(lambda place: NUMBER.sub(_tenth, place.group()), svg)
    lines = (line.strip() for line in svg.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def _tenth(number: re.Match) -> str:
    text = f"{float(number.group()):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
