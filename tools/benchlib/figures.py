# SPDX-License-Identifier: BSD-3-Clause
"""Medians and spreads, and tables of them."""

import statistics


def spread(values: list[float], unit: float = 1.0, digits: int = 1) -> str:
    """Returns 'median (smallest to largest)', or a dash if there are no values."""
    if not values:
        return "-"
    low, middle, high = (f"{value / unit:.{digits}f}"
                         for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Returns text in columns; the first is left-aligned."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
