"""What is P(y | x), and why: fast, exact, explained probabilistic classification.

A name is imported when it is first asked for: the command line starts without scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from posterior.families import FAMILIES as _FAMILIES

if TYPE_CHECKING:
    from posterior.data.errors import (
        DegenerateError,
        DegenerateWarning,
        LeakWarning,
        SeparationWarning,
    )
    from posterior.engines import threads
    from posterior.estimators import (
        AODE,
        KDB,
        TAN,
        Additive,
        BernoulliNB,
        CategoricalNB,
        Classifier,
        ComplementNB,
        CountVectorizer,
        GaussianDiscriminantAnalysis,
        GaussianMixture,
        GaussianNB,
        HashingVectorizer,
        JointBayes,
        KMeans,
        KMedoids,
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
        Pool,
        QuadraticDiscriminantAnalysis,
        TextClassifier,
        TfidfTransformer,
        TfidfVectorizer,
        predict_frame,
    )
    from posterior.families import *  # noqa: F403
    from posterior.families import (
        AddedVariance,
        BackOff,
        Laplace,
        MEstimate,
        MultivariateGaussian,
        Product,
        PseudoRows,
        VarianceFloor,
    )
    from posterior.generative.hypotheses import Hypotheses
    from posterior.javascript import to_javascript
    from posterior.preprocessing import KBinsDiscretizer, SupervisedDiscretizer
    from posterior.sql import to_sql
    from posterior.storage import ModelFileError, load, save
    from posterior.text import Words

    __version__: str

__all__ = [  # noqa: RUF022 - in the order of their letters
    "AODE",
    "Additive",
    "AddedVariance",
    "BackOff",
    "BernoulliNB",
    "CategoricalNB",
    "Classifier",
    "ComplementNB",
    "CountVectorizer",
    "DegenerateError",
    "DegenerateWarning",
    "GaussianDiscriminantAnalysis",
    "GaussianMixture",
    "GaussianNB",
    "HashingVectorizer",
    "Hypotheses",
    "JointBayes",
    "KBinsDiscretizer",
    "KDB",
    "KMeans",
    "KMedoids",
    "KNeighborsClassifier",
    "Laplace",
    "LeakWarning",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MEstimate",
    "MiniBatchKMeans",
    "Mixture",
    "MixtureClassifier",
    "ModelFileError",
    "MultinomialNB",
    "MultivariateGaussian",
    "NaiveBayes",
    "PoissonNB",
    "Pool",
    "Product",
    "PseudoRows",
    "QuadraticDiscriminantAnalysis",
    "SeparationWarning",
    "SupervisedDiscretizer",
    "TAN",
    "TextClassifier",
    "TfidfTransformer",
    "TfidfVectorizer",
    "VarianceFloor",
    "Words",
    "__version__",
    "load",
    "predict_frame",
    "save",
    "threads",
    "to_javascript",
    "to_sql",
]
__all__ += _FAMILIES.values()
__all__.sort()

# Where the names live, in the order of how much each part loads.
_HOMES = ["estimators", "data.errors", "engines", "families", "text", "preprocessing"]
_HOMES += ["storage", "sql", "javascript", "generative.hypotheses"]
_PARTS = {"data", "datasets", "engines", "estimators", "evaluation", "explain", "families"}
_PARTS |= {"javascript", "lectures", "plots", "preprocessing", "selection", "sql", "storage"}

if not TYPE_CHECKING:  # checkers read the imports above, and know a misspelled name

    def _version() -> str:
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("posterior")
        except PackageNotFoundError:  # read from a source tree that was never installed
            return "0+unknown"

    def __getattr__(name: str) -> object:
        if name in _PARTS:
            return import_module(f"posterior.{name}")
        if name == "__version__":
            return globals().setdefault(name, _version())
        if name in __all__:
            for home in _HOMES:
                part = import_module(f"posterior.{home}")
                if name in getattr(part, "__all__", vars(part)):
                    return globals().setdefault(name, getattr(part, name))
        raise AttributeError(f"module 'posterior' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_PARTS})
