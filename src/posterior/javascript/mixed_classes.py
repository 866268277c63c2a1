"""Classes that are mixtures, and whole rows that are looked up."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from posterior.estimators import JointBayes, MixtureClassifier
from posterior.generative.fitted import Fitted
from posterior.javascript.descriptions import corrected, described, summed
from posterior.javascript.joint_models import joint_model
from posterior.javascript.sheet import Column, Described
from posterior.readers.whole_rows import WholeRows


@described.register
def _(model: MixtureClassifier, columns: Sequence[Column]) -> Described:
    """s_c = log Σ_{k of c} exp s_k"""
    found = model.settled()
    rows = isinstance(found.fitted.reader, WholeRows)
    parts = (whole_rows if rows else joint_model)(found.fitted, columns)
    classes = found.labels.classes.tolist()
    if len(found.components) == len(classes):
        return corrected({**parts, "classes": classes}, found.calibrator)
    made = {"kind": "mixture", "components": parts, "of_class": found.components.of_class}
    return corrected({**made, "terms": [], "classes": classes}, found.calibrator)


@described.register
def _(model: JointBayes, columns: Sequence[Column]) -> Described:
    return whole_rows(model.settled(), columns)


def whole_rows(fitted: Fitted, columns: Sequence[Column]) -> Described:
    """s_k = log π_k + T[row, k], where a row never seen has a place of its own"""
    joint, sheet = fitted.model, columns[0].sheet
    rows = [json.loads(row) for row in joint.parameters.values[0].tolist()]
    levels = [sorted({row[j] for row in rows} - {None}) for j in range(len(columns))]
    cells = [c.words(own) for c, own in zip(columns, levels, strict=True)]
    name = sheet.name(fitted.reader.names[0])
    (log_prob,) = joint.parameters.log_prob
    part = {"kind": "whole_row", "name": name, "cells": cells, "known": rows}
    part["log_prob"] = np.ascontiguousarray(log_prob.T)
    return summed(fitted.classes, joint.log_prior, [part], [name], fitted.calibrator)
