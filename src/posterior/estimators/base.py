"""What every generative classifier does, put together."""

from __future__ import annotations

from sklearn.base import ClassifierMixin

from posterior.estimators.explaining import Explaining
from posterior.estimators.validating import Validating


class GenerativeClassifier(ClassifierMixin, Validating, Explaining):
    """Bayes' rule: p(k | x) ∝ π_k p(x | θ_k).

    A subclass says how input becomes features, which family they have, and what users find on the
    fitted model (`hooks.Hooks`).
    """

    score = Explaining.score  # reads frames with their target; scikit-learn's does not
