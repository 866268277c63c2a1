"""Threads of matrix products, which are not worth their start where products are small."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Matrix products inside stay on their thread."""
    return _blas().limit(limits=1, user_api="blas")
