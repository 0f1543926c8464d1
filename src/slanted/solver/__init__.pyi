from .convex_bp import solve as solve
from .dual import certified_bound as certified_bound
from .factor_graph import FactorGraph as FactorGraph
from .options import CountingNumbers as CountingNumbers, SolverOptions as SolverOptions
from .solution import Solution as Solution
from .topology import build_topology as build_topology
