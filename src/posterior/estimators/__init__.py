"""scikit-learn's surface, thin: input becomes rows, the core does the work."""

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
from posterior.estimators.neighbors import KNeighborsClassifier
from posterior.estimators.predicting_frames import predict_frame
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
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "CountVectorizer",
    "GaussianDiscriminantAnalysis",
    "GaussianMixture",
    "GaussianNB",
    "HashingVectorizer",
    "JointBayes",
    "KDB",
    "KMeans",
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
    "QuadraticDiscriminantAnalysis",
    "TAN",
    "TableClassifier",
    "TextClassifier",
    "TfidfTransformer",
    "TfidfVectorizer",
    "predict_frame",
]
