# SPDX-License-Identifier: BSD-3-Clause
"""Checks of options that several benchmarks have."""

import argparse
import math


def numbers(parser: argparse.ArgumentParser, option: str, text: str, example: str) -> list[float]:
    """Returns the numbers of a list with commas; they must be finite."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(map(math.isfinite, values)):
        parser.error(f"{option} {text}: give numbers, as in {example}")
    return values


def require_positive(parser: argparse.ArgumentParser, option: str, value: int) -> None:
    if value < 1:
        parser.error(f"{option} {value}: give at least 1")
