"""Bread."""

from yeast import Dough


class Loaf(Dough):
    """A loaf."""


class Burnt(Exception):
    """Too late."""


def bake():
    """Bake."""
