"""scikit-learn's surface, thin: input becomes rows, the core does the work.

A class is imported when it is first asked for: naive Bayes starts without what neighbors need.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posterior.estimators.additive import Additive
    from posterior.estimators.answer_files import predict_frame
    from posterior.estimators.dependence import AODE, KDB, TAN
    from posterior.estimators.discriminant import (
        GaussianDiscriminantAnalysis,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from posterior.estimators.kmeans import KMeans, MiniBatchKMeans
    from posterior.estimators.logistic import LogisticRegression, LogisticRegressionCV
    from posterior.estimators.mixture import GaussianMixture, Mixture, MixtureClassifier
    from posterior.estimators.naive_bayes import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        JointBayes,
        MultinomialNB,
        NaiveBayes,
        PoissonNB,
    )
    from posterior.estimators.neighbors import KMedoids, KNeighborsClassifier
    from posterior.estimators.pool import Classifier, Pool
    from posterior.estimators.table_classifier import TableClassifier
    from posterior.estimators.text import (
        CountVectorizer,
        HashingVectorizer,
        TextClassifier,
        TfidfTransformer,
        TfidfVectorizer,
    )

__all__ = [  # noqa: RUF022 - in the order of their letters
    "AODE",
    "Additive",
    "BernoulliNB",
    "CategoricalNB",
    "Classifier",
    "ComplementNB",
    "CountVectorizer",
    "GaussianDiscriminantAnalysis",
    "GaussianMixture",
    "GaussianNB",
    "HashingVectorizer",
    "JointBayes",
    "KDB",
    "KMeans",
    "KMedoids",
    "KNeighborsClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MiniBatchKMeans",
    "Mixture",
    "MixtureClassifier",
    "MultinomialNB",
    "NaiveBayes",
    "PoissonNB",
    "Pool",
    "QuadraticDiscriminantAnalysis",
    "TAN",
    "TableClassifier",
    "TextClassifier",
    "TfidfTransformer",
    "TfidfVectorizer",
    "predict_frame",
]

_HOMES = {
    "additive": "Additive",
    "dependence": "AODE KDB TAN",
    "discriminant": "GaussianDiscriminantAnalysis LinearDiscriminantAnalysis"
    " QuadraticDiscriminantAnalysis",
    "kmeans": "KMeans MiniBatchKMeans",
    "logistic": "LogisticRegression LogisticRegressionCV",
    "mixture": "GaussianMixture Mixture MixtureClassifier",
    "naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB JointBayes MultinomialNB"
    " NaiveBayes PoissonNB",
    "neighbors": "KMedoids KNeighborsClassifier",
    "answer_files": "predict_frame",
    "pool": "Classifier Pool",
    "table_classifier": "TableClassifier",
    "text": "CountVectorizer HashingVectorizer TextClassifier TfidfTransformer TfidfVectorizer",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        for home, names in _HOMES.items():
            if name in names.split():
                found = getattr(import_module(f"posterior.estimators.{home}"), name)
                return globals().setdefault(name, found)
        raise AttributeError(f"module 'posterior.estimators' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
