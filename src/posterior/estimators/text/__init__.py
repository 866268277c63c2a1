"""From documents to matrices, and from documents to classes."""

from typing import TYPE_CHECKING

from posterior.data import by_first_use

if TYPE_CHECKING:
    from posterior.estimators.text.count_vectorizer import CountVectorizer as CountVectorizer
    from posterior.estimators.text.hashing_vectorizer import HashingVectorizer as HashingVectorizer
    from posterior.estimators.text.text_classifier import TextClassifier as TextClassifier
    from posterior.estimators.text.tfidf_transformer import TfidfTransformer as TfidfTransformer
    from posterior.estimators.text.tfidf_vectorizer import TfidfVectorizer as TfidfVectorizer

_HOMES = {
    "count_vectorizer": "CountVectorizer",
    "hashing_vectorizer": "HashingVectorizer",
    "text_classifier": "TextClassifier",
    "tfidf_transformer": "TfidfTransformer",
    "tfidf_vectorizer": "TfidfVectorizer",
}

if not TYPE_CHECKING:  # checkers read the imports above
    __all__, __getattr__, __dir__ = by_first_use(__name__, _HOMES)
