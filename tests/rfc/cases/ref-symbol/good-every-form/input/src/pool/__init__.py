"""Pools."""

from json import dumps

from pool.keeper import Keeper as Warm
from .warm import *
