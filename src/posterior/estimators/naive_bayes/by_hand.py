"""Naive Bayes models whose attributes are set by hand, one by one, instead of learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from posterior.generative.fitted import Fitted
from posterior.readers.labels import Labels


def state(self: Any, name: str, value: Any) -> None:
    """Note an attribute that is set by hand; all together make a model that saw no rows."""
    values = {**vars(self).get("_by_hand", {}), name: value}
    try:
        prior, parameters = self.stated(values)
        labels = Labels(np.asarray(values["classes_"]))
        columns = replace(self.columns(), n=int(values["n_features_in_"]))
    except KeyError:
        self.__dict__["_by_hand"] = values
        return
    self.__dict__.pop("_by_hand", None)
    reader = self.reader().of(columns)
    rule = self.rule(reader, labels)
    self.fitted_ = Fitted.stated(reader, labels, rule, prior, parameters)
