from .build import build_regions as build_regions
from .edges import BOUNDARY_REACH as BOUNDARY_REACH
from .structure import Regions as Regions
