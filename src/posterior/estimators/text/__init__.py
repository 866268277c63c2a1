"""From documents to matrices, and from documents to classes."""

from posterior.estimators.text.count_vectorizer import CountVectorizer
from posterior.estimators.text.hashing_vectorizer import HashingVectorizer
from posterior.estimators.text.text_classifier import TextClassifier
from posterior.estimators.text.tfidf_transformer import TfidfTransformer
from posterior.estimators.text.tfidf_vectorizer import TfidfVectorizer

__all__ = [
    "CountVectorizer",
    "HashingVectorizer",
    "TextClassifier",
    "TfidfTransformer",
    "TfidfVectorizer",
]
