"""Distributions of features given a group: one file a family, priors as pseudo-rows."""

from posterior.families.bernoulli import Bernoulli
from posterior.families.binned import Binned
from posterior.families.categorical import Categorical
from posterior.families.complement import Complement
from posterior.families.dependence import BackOff
from posterior.families.family import Family, Intervals, Scorer
from posterior.families.gaussian import Gaussian, GaussianParameters
from posterior.families.multinomial import Multinomial
from posterior.families.multivariate_gaussian import MultivariateGaussian
from posterior.families.normal_density import MultivariateGaussianParameters
from posterior.families.poisson import Poisson
from posterior.families.priors import AddedVariance, Laplace, MEstimate, PseudoRows, VarianceFloor
from posterior.families.product import Product
from posterior.families.student import StudentT

__all__ = [
    "AddedVariance",
    "BackOff",
    "Bernoulli",
    "Binned",
    "Categorical",
    "Complement",
    "Family",
    "Gaussian",
    "GaussianParameters",
    "Intervals",
    "Laplace",
    "MEstimate",
    "Multinomial",
    "MultivariateGaussian",
    "MultivariateGaussianParameters",
    "Poisson",
    "Product",
    "PseudoRows",
    "Scorer",
    "StudentT",
    "VarianceFloor",
]
