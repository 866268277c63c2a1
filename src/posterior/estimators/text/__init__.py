"""From documents to matrices, and from documents to classes."""

from posterior.estimators.text.count import CountVectorizer
from posterior.estimators.text.hashing import HashingVectorizer
from posterior.estimators.text.text_classifier import TextClassifier
from posterior.estimators.text.tfidf import TfidfVectorizer
from posterior.estimators.text.weights import TfidfTransformer

__all__ = [
    "CountVectorizer",
    "HashingVectorizer",
    "TextClassifier",
    "TfidfTransformer",
    "TfidfVectorizer",
]
