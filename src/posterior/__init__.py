"""What is P(y | x), and why: fast, exact, explained probabilistic classification."""

from importlib.metadata import PackageNotFoundError, version

from posterior.data.errors import DegenerateError, DegenerateWarning, SeparationWarning
from posterior.engines import threads
from posterior.estimators import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminantAnalysis,
    GaussianMixture,
    GaussianNB,
    JointBayes,
    KMeans,
    KNeighborsClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    LogisticRegressionCV,
    MiniBatchKMeans,
    Mixture,
    MixtureClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from posterior.families import (
    AddedVariance,
    Bernoulli,
    Categorical,
    Gaussian,
    Laplace,
    MEstimate,
    Multinomial,
    MultivariateGaussian,
    Poisson,
    Product,
    PseudoRows,
    VarianceFloor,
)

try:
    __version__ = version("posterior")
except PackageNotFoundError:  # read from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = [
    "AddedVariance",
    "Bernoulli",
    "BernoulliNB",
    "Categorical",
    "CategoricalNB",
    "ComplementNB",
    "DegenerateError",
    "DegenerateWarning",
    "Gaussian",
    "GaussianDiscriminantAnalysis",
    "GaussianMixture",
    "GaussianNB",
    "JointBayes",
    "KMeans",
    "KNeighborsClassifier",
    "Laplace",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MEstimate",
    "MiniBatchKMeans",
    "Mixture",
    "MixtureClassifier",
    "Multinomial",
    "MultinomialNB",
    "MultivariateGaussian",
    "NaiveBayes",
    "Poisson",
    "PoissonNB",
    "Product",
    "PseudoRows",
    "QuadraticDiscriminantAnalysis",
    "SeparationWarning",
    "VarianceFloor",
    "__version__",
    "threads",
]
