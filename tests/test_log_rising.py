"""Rising factorials, against sums of logarithms that lose nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior.families.log_rising import LARGE, log_rising


@given(start=st.floats(1e-3, 1e7), n=st.integers(0, 300))
def test_a_rising_factorial_is_the_product_of_its_steps(start: float, n: int) -> None:
    exact = math.fsum(math.log(start + i) for i in range(n))
    assert float(log_rising(start, float(n))) == pytest.approx(exact, rel=2e-14, abs=2e-14)


def test_both_forms_meet_where_one_ends() -> None:
    below, above = (log_rising(a, 7.0) for a in (np.nextafter(LARGE, 0), LARGE))
    assert abs(float(above - below)) < 1e-13
