"""Documents: how they are cut into terms, and what each term weighs for each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior.data.typing import Floats
from posterior.estimators.text import TextClassifier
from posterior.estimators.text.base import own_steps
from posterior.estimators.text.text_explanation import ABSENT
from posterior.javascript.descriptions import described, summed
from posterior.javascript.joint_models import family_parts
from posterior.javascript.sheet import Column, Described
from posterior.readers.documents import Documents
from posterior.text import Words
from posterior.text.analysis import TermSettings, shortest_run
from posterior.text.characters import letters, white_space
from posterior.text.damping import FINE, MOST, UNIT
from posterior.text.term_weights import WeighedTerms
from posterior.text.words import WordParameters


@described.register
def _(model: TextClassifier, columns: Sequence[Column]) -> Described:
    """s_k = log π_k + offset_k + Σⱼ xⱼ w_kj; a text that is missing says nothing."""
    fitted, (source,) = model.settled(), columns
    family, weights, reader = fitted.model.family, fitted.model.parameters, fitted.reader
    assert isinstance(family, WeighedTerms) and isinstance(reader, Documents)
    assert reader.vocabulary is not None
    terms = _terms(reader.vocabulary.terms.strings(), weights.weight, source)
    part = {**_cut(reader.terms, source, bool(own_steps(model))), **terms}
    part["presence"] = weights.presence
    if family.damping.logs and not weights.presence:
        part |= {"fine": FINE, "most": MOST}
        part |= {"unit": UNIT} if family.damping.unit_length else {}
    if weights.offset.any():
        part |= {"offset": weights.offset, "absent": source.sheet.name(ABSENT)}
    return summed(fitted.classes, fitted.model.log_prior, [part], [], fitted.calibrator)


@family_parts.register
def _(family: Words, parameters: WordParameters, columns: Sequence[Column]) -> list[Described]:
    (source,) = columns
    terms = _terms(parameters.terms.strings(), np.asarray(parameters.urn.log_prob), source)
    return [{**_cut(TermSettings(), source), **terms, "name": source.sheet.name(source.term)}]


def _terms(terms: Sequence[str], weight: Floats, source: Column) -> Described:
    return {"terms": source.sheet.shared(terms), "weight": weight.T}


def _cut(settings: TermSettings, source: Column, own: bool = False) -> Described:
    """How a text is cut into terms."""
    least = shortest_run(settings.token_pattern)
    reason = None
    if settings.analyzer not in ("word", "char", "char_wb") or own:
        reason = "terms that a function makes"
    elif settings.analyzer == "word" and least is None:
        reason = (
            f"token_pattern={settings.token_pattern!r}: JavaScript reads patterns otherwise than "
            r"Python, but for runs of letters such as '\w\w+'"
        )
    elif settings.strip_accents:
        reason = f"strip_accents={settings.strip_accents!r}"
    if reason:
        raise TypeError(
            f"Expected terms that JavaScript cuts out of documents as the model does, got "
            f"{reason}. Fit it without, or use model.predict_proba."
        )
    sheet = source.sheet
    pattern = f"[{letters()}]{{{least},}}" if settings.analyzer == "word" else f"[{white_space()}]"
    how: dict[str, Any] = {"kind": "words", "cell": source.text(), "analyzer": settings.analyzer}
    how |= {"pattern": sheet.shared([pattern]), "ngrams": [*settings.ngram_range]}
    how["lower"] = bool(settings.lowercase)
    stops = sorted(settings.get_stop_words() or ()) if settings.analyzer == "word" else []
    return how | ({"stops": sheet.shared(stops)} if stops else {})
