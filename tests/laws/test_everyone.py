"""The list that laws over all estimators run on."""

from __future__ import annotations

import numpy as np
import pytest
from everyone import EVERYONE, READS, every

pytestmark = pytest.mark.filterwarnings("ignore::posterior.DegenerateWarning")


def test_the_list_is_what_is_public():
    names = {subject.name for subject in EVERYONE}
    assert len(names) >= 25
    assert set(READS) <= names


@every()
def test_every_estimator_learns_from_its_table_and_answers(subject):
    X, y = subject.table(np.random.default_rng(1), 60)
    answers = subject.answers(subject.fit(X, y), X)
    assert answers
    assert all(len(answer) == 60 for answer in answers.values())
    if subject.is_classifier:
        assert (answers["predict"] == y).mean() > 0.6
