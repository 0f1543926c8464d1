from .build import build_factor_graph as build_factor_graph
from .energy import Energies as Energies
from .observations import Observations as Observations, observe as observe
