"""Distributions of features given a group: one file a family, priors as pseudo-rows.

`FAMILIES` is the one list of families by column. Names for `NaiveBayes(families="gaussian")`, the
public names of the package, the laws that every family is held to, and the page of the manual all
come from it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from posterior.data import by_first_use

if TYPE_CHECKING:
    from posterior.families.bernoulli import Bernoulli as Bernoulli
    from posterior.families.binned import Binned as Binned
    from posterior.families.categorical import Categorical as Categorical
    from posterior.families.complement import Complement as Complement
    from posterior.families.dependence import BackOff as BackOff
    from posterior.families.exponential import Exponential as Exponential
    from posterior.families.family import AnyFamily
    from posterior.families.family import Family as Family
    from posterior.families.family import Intervals as Intervals
    from posterior.families.family import Scorer as Scorer
    from posterior.families.gamma import Gamma as Gamma
    from posterior.families.gaussian import Gaussian as Gaussian
    from posterior.families.gaussian import GaussianParameters as GaussianParameters
    from posterior.families.kernel import Kernel as Kernel
    from posterior.families.lognormal import LogNormal as LogNormal
    from posterior.families.multinomial import Multinomial as Multinomial
    from posterior.families.multivariate_gaussian import (
        MultivariateGaussian as MultivariateGaussian,
    )
    from posterior.families.normal_density import (
        MultivariateGaussianParameters as MultivariateGaussianParameters,
    )
    from posterior.families.poisson import Poisson as Poisson
    from posterior.families.priors import AddedVariance as AddedVariance
    from posterior.families.priors import Laplace as Laplace
    from posterior.families.priors import MEstimate as MEstimate
    from posterior.families.priors import PseudoRows as PseudoRows
    from posterior.families.priors import VarianceFloor as VarianceFloor
    from posterior.families.product import Product as Product
    from posterior.families.student import StudentT as StudentT

FAMILIES = {  # what people call it, which is its module, and its class
    "bernoulli": "Bernoulli",
    "binned": "Binned",
    "categorical": "Categorical",
    "exponential": "Exponential",
    "gamma": "Gamma",
    "gaussian": "Gaussian",
    "kernel": "Kernel",
    "lognormal": "LogNormal",
    "multinomial": "Multinomial",
    "poisson": "Poisson",
    "student": "StudentT",
}
_HOMES = FAMILIES | {
    "complement": "Complement",
    "dependence": "BackOff",
    "family": "Family Intervals Scorer",
    "gaussian": "Gaussian GaussianParameters",
    "multivariate_gaussian": "MultivariateGaussian",
    "normal_density": "MultivariateGaussianParameters",
    "priors": "AddedVariance Laplace MEstimate PseudoRows VarianceFloor",
    "product": "Product",
}


def by_name() -> "dict[str, type[AnyFamily]]":
    """Every family by column, by the name that people call it."""
    return {name: getattr(import_module(f"{__name__}.{name}"), FAMILIES[name]) for name in FAMILIES}


if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, _HOMES)
