"""Ovens."""

from ..keeper import start as begin
from .bread import bake

SIZES = {"small": 1}
