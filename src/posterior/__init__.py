"""What is P(y | x), and why: fast, exact, explained probabilistic classification.

A name is imported when it is first asked for: the command line starts without scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from posterior.data import by_first_use
from posterior.families import FAMILIES as _FAMILIES

if TYPE_CHECKING:
    from posterior.data.errors import DegenerateError as DegenerateError
    from posterior.data.errors import DegenerateWarning as DegenerateWarning
    from posterior.data.errors import LeakWarning as LeakWarning
    from posterior.data.errors import SeparationWarning as SeparationWarning
    from posterior.engines import threads as threads
    from posterior.estimators import AODE as AODE
    from posterior.estimators import KDB as KDB
    from posterior.estimators import TAN as TAN
    from posterior.estimators import Additive as Additive
    from posterior.estimators import BernoulliNB as BernoulliNB
    from posterior.estimators import CategoricalNB as CategoricalNB
    from posterior.estimators import Classifier as Classifier
    from posterior.estimators import ComplementNB as ComplementNB
    from posterior.estimators import CountVectorizer as CountVectorizer
    from posterior.estimators import GaussianDiscriminantAnalysis as GaussianDiscriminantAnalysis
    from posterior.estimators import GaussianMixture as GaussianMixture
    from posterior.estimators import GaussianNB as GaussianNB
    from posterior.estimators import HashingVectorizer as HashingVectorizer
    from posterior.estimators import JointBayes as JointBayes
    from posterior.estimators import KMeans as KMeans
    from posterior.estimators import KMedoids as KMedoids
    from posterior.estimators import KNeighborsClassifier as KNeighborsClassifier
    from posterior.estimators import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from posterior.estimators import LogisticRegression as LogisticRegression
    from posterior.estimators import LogisticRegressionCV as LogisticRegressionCV
    from posterior.estimators import MiniBatchKMeans as MiniBatchKMeans
    from posterior.estimators import Mixture as Mixture
    from posterior.estimators import MixtureClassifier as MixtureClassifier
    from posterior.estimators import MultinomialNB as MultinomialNB
    from posterior.estimators import NaiveBayes as NaiveBayes
    from posterior.estimators import PoissonNB as PoissonNB
    from posterior.estimators import Pool as Pool
    from posterior.estimators import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from posterior.estimators import TextClassifier as TextClassifier
    from posterior.estimators import TfidfTransformer as TfidfTransformer
    from posterior.estimators import TfidfVectorizer as TfidfVectorizer
    from posterior.estimators import predict_frame as predict_frame
    from posterior.families import *  # noqa: F403
    from posterior.families import AddedVariance as AddedVariance
    from posterior.families import BackOff as BackOff
    from posterior.families import Laplace as Laplace
    from posterior.families import MEstimate as MEstimate
    from posterior.families import MultivariateGaussian as MultivariateGaussian
    from posterior.families import Product as Product
    from posterior.families import PseudoRows as PseudoRows
    from posterior.families import VarianceFloor as VarianceFloor
    from posterior.generative.hypotheses import Hypotheses as Hypotheses
    from posterior.javascript import to_javascript as to_javascript
    from posterior.preprocessing import KBinsDiscretizer as KBinsDiscretizer
    from posterior.preprocessing import SupervisedDiscretizer as SupervisedDiscretizer
    from posterior.sql import to_sql as to_sql
    from posterior.storage import ModelFileError as ModelFileError
    from posterior.storage import load as load
    from posterior.storage import save as save
    from posterior.text import Words as Words

    __version__: str

_HOMES = {
    "data.errors": "DegenerateError DegenerateWarning LeakWarning SeparationWarning",
    "engines": "threads",
    "estimators": "AODE KDB TAN Additive BernoulliNB CategoricalNB Classifier ComplementNB"
    " CountVectorizer GaussianDiscriminantAnalysis GaussianMixture GaussianNB"
    " HashingVectorizer JointBayes KMeans KMedoids KNeighborsClassifier"
    " LinearDiscriminantAnalysis LogisticRegression LogisticRegressionCV MiniBatchKMeans"
    " Mixture MixtureClassifier MultinomialNB NaiveBayes PoissonNB Pool"
    " QuadraticDiscriminantAnalysis TextClassifier TfidfTransformer TfidfVectorizer"
    " predict_frame",
    "families": "AddedVariance BackOff Laplace MEstimate MultivariateGaussian Product"
    " PseudoRows VarianceFloor",
    "generative.hypotheses": "Hypotheses",
    "javascript": "to_javascript",
    "preprocessing": "KBinsDiscretizer SupervisedDiscretizer",
    "sql": "to_sql",
    "storage": "ModelFileError load save",
    "text": "Words",
}
_HOMES["families"] += " ".join(["", *_FAMILIES.values()])
_PARTS = {"data", "datasets", "engines", "estimators", "evaluation", "explain", "families"}
_PARTS |= {"javascript", "lectures", "plots", "preprocessing", "selection", "sql", "storage"}

if not TYPE_CHECKING:  # checkers read the imports above, and know a misspelled name

    def _version() -> str:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("posterior")
        except PackageNotFoundError:  # read from a source tree that was never installed
            return "0+unknown"

    __all__, _named, _listed = by_first_use(__name__, _HOMES)
    __all__ = sorted([*__all__, "__version__"])

    def __getattr__(name: str) -> object:
        if name in _PARTS:
            return import_module(f"posterior.{name}")
        if name == "__version__":
            return globals().setdefault(name, _version())
        return _named(name)

    def __dir__() -> list[str]:
        return sorted({*_listed(), "__version__", *_PARTS})
