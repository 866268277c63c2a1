"""A number is no class: every classifier says so at once."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from everyone import Subject, every

pytestmark = pytest.mark.once


@every(lambda subject: subject.is_classifier)
@pytest.mark.parametrize("form", [np.asarray, list, pd.Series])
def test_continuous_labels_are_refused_at_once(subject: Subject, form: Any) -> None:
    random = np.random.default_rng(0)
    X, _ = subject.table(random, 20_000)
    started = time.perf_counter()
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        subject.make().fit(X, form(random.normal(size=20_000)))
    assert time.perf_counter() - started < 10  # most take milliseconds
