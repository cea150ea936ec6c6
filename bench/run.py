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

MODULES = ("rfc", "session", "persistence", "stage")


def table(modules: tuple[str, ...]) -> None:
    """Measure and print one line a path; times in milliseconds."""
    print(f"{'path':<58} {'product':>11} {'floor':>11} {'ratio':>7}  note")
    for module in modules:
        for name, product_s, floor_s, note in importlib.import_module(module).rows():
            floor = f"{floor_s * 1e3:8.2f} ms" if floor_s else " " * 11
            ratio = f"{product_s / floor_s:7.2f}" if floor_s else " " * 7
            print(f"{name:<58} {product_s * 1e3:8.2f} ms {floor:>11} {ratio}  {note}", flush=True)


def main() -> None:
    """Run the named modules, all of them by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[*MODULES, []], default=list(MODULES))
    chosen = tuple(parser.parse_args().modules)
    sys.path.insert(0, str(Path(__file__).parent))
    started = time.perf_counter()
    table(chosen)
    print(f"measured in {time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
