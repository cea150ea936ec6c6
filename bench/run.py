"""Print product, floor and ratio of every measured path: `make bench`.

Each module named here has `rows()`, which yields `(name, product_s, floor_s or None, note)`; product and floor are
interleaved inside one run, so that their ratio holds on a machine whose speed drifts.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

QUICK = ("rfc", "session", "persistence")
MODULES = (*QUICK, "stage")  # the last one builds a site of a thousand pages: only when it is named


def table(modules: tuple[str, ...]) -> None:
    """Measure and print one line a path; times in milliseconds."""
    print(f"{'path':<58} {'product':>11} {'floor':>11} {'ratio':>7}  note")
    for module in modules:
        for name, product_s, floor_s, note in importlib.import_module(module).rows():
            floor = f"{floor_s * 1e3:8.2f} ms" if floor_s else " " * 11
            ratio = f"{product_s / floor_s:7.2f}" if floor_s else " " * 7
            print(f"{name:<58} {product_s * 1e3:8.2f} ms {floor:>11} {ratio}  {note}", flush=True)


def main() -> None:
    """Run the named modules, by default those that together take less than two minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(MODULES)}")
    chosen = tuple(parser.parse_args().modules) or QUICK
    if unknown := set(chosen) - set(MODULES):
        parser.error(f"no such module: {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}")
    sys.path.insert(0, str(Path(__file__).parent))
    started = time.perf_counter()
    table(chosen)
    print(f"measured in {time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
