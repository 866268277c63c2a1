"""Loops over rows that NumPy cannot fuse, seen as NumPy functions.

`compiled` and `reference` hold the same functions; POSTERIOR_KERNELS chooses between them, and
`active` says which are in use. The compiled ones run on the widest vectors of the machine;
POSTERIOR_SIMD holds them to avx2 or to the baseline of x86-64, and `simd` says what they use.
Beside the two stand the values that both read and write.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

_choice = os.environ.get("POSTERIOR_KERNELS", "")
if _choice not in ("", "compiled", "reference"):
    raise ValueError(f"Expected POSTERIOR_KERNELS to be compiled or reference, got {_choice!r}.")
_width = os.environ.get("POSTERIOR_SIMD", "avx512")
if _width not in ("baseline", "avx2", "avx512"):
    raise ValueError(f"Expected POSTERIOR_SIMD to be baseline, avx2 or avx512, got {_width!r}.")

active, simd = "reference", "NumPy's"
if TYPE_CHECKING or _choice == "reference":
    from posterior.kernels.reference import *  # noqa: F403
else:
    try:
        from posterior.kernels import _compiled
        from posterior.kernels.compiled import *  # noqa: F403

        active, simd = "compiled", _compiled.simd
    except ImportError as error:
        if _choice == "compiled":
            raise
        from posterior.kernels.reference import *  # noqa: F403

        warnings.warn(
            f"posterior runs without its compiled kernels ({error}): results are the same, fits "
            "and predictions are slower. Reinstall it where a C++20 compiler is at hand.",
            stacklevel=2,
        )
