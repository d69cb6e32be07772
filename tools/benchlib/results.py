# SPDX-License-Identifier: BSD-3-Clause
"""The file with what an experiment measured."""

import argparse
import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Iterator


@contextlib.contextmanager
def kept(arguments: argparse.Namespace, samples: list, **more) -> Iterator[pathlib.Path]:
    """Yields the path of `results.json` in `--output`. It is written at the end, with the options, `more` and the
    samples that there are then, dictionaries or data classes; also when an error or ^C comes between."""
    path = arguments.output / "results.json"
    try:
        yield path
    finally:
        if samples:
            arguments.output.mkdir(parents=True, exist_ok=True)
            setting = {key: str(value) for key, value in vars(arguments).items()}
            path.write_text(json.dumps({"setting": setting, **more, "samples": samples}, indent=1,
                                       default=dataclasses.asdict) + "\n")
