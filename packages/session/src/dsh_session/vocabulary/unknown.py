"""How a closed set of kinds stays open: a part whose kind is not one of ours is carried whole.

Owns `not_one_of`, the guard that keeps the fallback from swallowing a malformed known kind.
Flow: a union tries the known kinds by their tag, then the open part, whose tag must not be a known one.
"""

from collections.abc import Callable
from typing import get_args

from pydantic import AfterValidator, BaseModel


def tags_of(field: str, models: tuple[type[BaseModel], ...]) -> frozenset[str]:
    """Collect the literal values that a field has in these models."""
    return frozenset(tag for model in models for tag in get_args(model.model_fields[field].annotation))


def not_one_of(tags: frozenset[str]) -> AfterValidator:
    """Make a validator that refuses the tags of known kinds."""

    def check(value: str) -> str:
        if value in tags:
            raise ValueError(f"{value!r} does not have the fields of its kind")
        return value

    guard: Callable[[str], str] = check
    return AfterValidator(guard)
