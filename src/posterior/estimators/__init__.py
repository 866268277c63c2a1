"""scikit-learn's surface, thin: input becomes rows, the core does the work.

A class is imported when it is first asked for: naive Bayes starts without what neighbors need.
"""

from typing import TYPE_CHECKING

from posterior.data import by_first_use

if TYPE_CHECKING:
    from posterior.estimators.additive import Additive as Additive
    from posterior.estimators.answer_files import predict_frame as predict_frame
    from posterior.estimators.dependence import AODE as AODE
    from posterior.estimators.dependence import KDB as KDB
    from posterior.estimators.dependence import TAN as TAN
    from posterior.estimators.discriminant import (
        GaussianDiscriminantAnalysis as GaussianDiscriminantAnalysis,
    )
    from posterior.estimators.discriminant import (
        LinearDiscriminantAnalysis as LinearDiscriminantAnalysis,
    )
    from posterior.estimators.discriminant import (
        QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis,
    )
    from posterior.estimators.kmeans import KMeans as KMeans
    from posterior.estimators.kmeans import MiniBatchKMeans as MiniBatchKMeans
    from posterior.estimators.logistic import LogisticRegression as LogisticRegression
    from posterior.estimators.logistic import LogisticRegressionCV as LogisticRegressionCV
    from posterior.estimators.mixture import GaussianMixture as GaussianMixture
    from posterior.estimators.mixture import Mixture as Mixture
    from posterior.estimators.mixture import MixtureClassifier as MixtureClassifier
    from posterior.estimators.naive_bayes import BernoulliNB as BernoulliNB
    from posterior.estimators.naive_bayes import CategoricalNB as CategoricalNB
    from posterior.estimators.naive_bayes import ComplementNB as ComplementNB
    from posterior.estimators.naive_bayes import GaussianNB as GaussianNB
    from posterior.estimators.naive_bayes import JointBayes as JointBayes
    from posterior.estimators.naive_bayes import MultinomialNB as MultinomialNB
    from posterior.estimators.naive_bayes import NaiveBayes as NaiveBayes
    from posterior.estimators.naive_bayes import PoissonNB as PoissonNB
    from posterior.estimators.neighbors import KMedoids as KMedoids
    from posterior.estimators.neighbors import KNeighborsClassifier as KNeighborsClassifier
    from posterior.estimators.pool import Classifier as Classifier
    from posterior.estimators.pool import Pool as Pool
    from posterior.estimators.table_classifier import TableClassifier as TableClassifier
    from posterior.estimators.text import CountVectorizer as CountVectorizer
    from posterior.estimators.text import HashingVectorizer as HashingVectorizer
    from posterior.estimators.text import TextClassifier as TextClassifier
    from posterior.estimators.text import TfidfTransformer as TfidfTransformer
    from posterior.estimators.text import TfidfVectorizer as TfidfVectorizer

_HOMES = {
    "additive": "Additive",
    "answer_files": "predict_frame",
    "dependence": "AODE KDB TAN",
    "discriminant": "GaussianDiscriminantAnalysis LinearDiscriminantAnalysis"
    " QuadraticDiscriminantAnalysis",
    "kmeans": "KMeans MiniBatchKMeans",
    "logistic": "LogisticRegression LogisticRegressionCV",
    "mixture": "GaussianMixture Mixture MixtureClassifier",
    "naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB JointBayes MultinomialNB"
    " NaiveBayes PoissonNB",
    "neighbors": "KMedoids KNeighborsClassifier",
    "pool": "Classifier Pool",
    "table_classifier": "TableClassifier",
    "text": "CountVectorizer HashingVectorizer TextClassifier TfidfTransformer TfidfVectorizer",
}

if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, _HOMES)
