"""Coefficients of logistic regression, and how its rows are read."""

from __future__ import annotations

from posterior.discriminative.fitted_logistic import FittedLogistic
from posterior.preprocessing.encoding import Encoding
from posterior.readers.encoded import Encoded
from posterior.readers.labels import Labels
from posterior.storage.calibrator_checks import check_calibrator
from posterior.storage.checks import looks, n_columns
from posterior.storage.extents import n_classes, shape_of
from posterior.storage.model_file_error import expect
from posterior.storage.streams import check_stream


@looks.register
def _(value: FittedLogistic) -> None:
    reader, labels = value.reader, value.labels
    expect(isinstance(reader, Encoded) and isinstance(labels, Labels), "how rows are read")
    n = n_columns(reader)
    if reader.encoding is not None:
        expect(isinstance(reader.encoding, Encoding), "how words become numbers")
        expect(len(reader.encoding.columns) == n, "an encoding of each column")
    k, (width,) = n_classes(labels.classes), reader.widths()
    outputs = k if k > 2 else 1
    check_calibrator(value.calibrator, k)
    expect(shape_of(value.coef) == (outputs, width), f"coefficients of {width} columns")
    expect(shape_of(value.typical) == (width,), "a typical row")
    if value.stream is not None:
        check_stream(value.stream, reader.columns.n, k, (outputs, width))
