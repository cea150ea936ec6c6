"""Keeps processes warm."""


class Clock:
    """Tells the time."""


class Keeper(Clock):
    """Keeps."""

    limit = 3

    def __init__(self):
        self.kept = []

    def keep(self, process):
        """Keep a process."""


def start():
    """Start."""
