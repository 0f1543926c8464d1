from .build import build_factor_graph as build_factor_graph
from .energy import Features as Features
from .observations import Observations as Observations, observe as observe
