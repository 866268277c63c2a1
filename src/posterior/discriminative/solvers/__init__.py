"""Solvers, which see an objective and never a row."""

from posterior.discriminative.solvers.gradient_ascent import GradientAscent
from posterior.discriminative.solvers.newton import Newton
from posterior.discriminative.solvers.newton_cg import NewtonCG
from posterior.discriminative.solvers.proximal_newton import ProximalNewton
from posterior.discriminative.solvers.quasi_newton import QuasiNewton
from posterior.discriminative.solvers.solution import Solution, Solver, Step, Stop, Watch

__all__ = [
    "GradientAscent",
    "Newton",
    "NewtonCG",
    "ProximalNewton",
    "QuasiNewton",
    "Solution",
    "Solver",
    "Step",
    "Stop",
    "Watch",
]
