"""Files that earlier versions wrote are read, and the models in them answer as they did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import test_model_file
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import posterior

pytestmark = pytest.mark.once

HERE = Path(__file__).parent / "model_files"
FILES = sorted(HERE.glob("*/*.posterior"))
TABLES = {  # what the models of these names read; all others read numbers
    "aode": test_model_file.FRAME,
    "aode_codes": test_model_file.WORDS,
    "bernoullinb": test_model_file.X > 0,
    "categoricalnb": test_model_file.WORDS,
    "complementnb": test_model_file.WORDS * 0.1,
    "countvectorizer": test_model_file.DOCUMENTS,
    "gaussiandiscriminantanalysis": test_model_file.GAPS,
    "gaussiandiscriminantanalysis_stream": test_model_file.GAPS,
    "gaussiannb_missing_cells": test_model_file.GAPS,
    "hashingvectorizer": test_model_file.DOCUMENTS,
    "jointbayes": test_model_file.WORDS,
    "kbinsdiscretizer": test_model_file.GAPS,
    "kdb": test_model_file.FRAME,
    "kdb_selective": test_model_file.FRAME,
    "kneighborsclassifier_auto": test_model_file.GAPS,
    "kneighborsclassifier_mixed": test_model_file.FRAME,
    "kneighborsclassifier_sparse": sparse.csr_array(test_model_file.WORDS),
    "kneighborsclassifier_strings": test_model_file.STRINGS,
    "logisticregression_mixed": test_model_file.FRAME,
    "mixture": test_model_file.FRAME,
    "mixtureclassifier_hidden": test_model_file.FRAME,
    "multinomialnb": sparse.csr_array(test_model_file.WORDS),
    "naivebayes": test_model_file.FRAME,
    "naivebayes_a_column_left_out": test_model_file.FRAME,
    "naivebayes_families": test_model_file.FRAME,
    "poissonnb": test_model_file.WORDS,
    "superviseddiscretizer": test_model_file.GAPS,
    "tableclassifier": test_model_file.FRAME,
    "tableclassifier_numbers": test_model_file.FRAME,
    "tan": test_model_file.FRAME,
    "textclassifier": test_model_file.DOCUMENTS,
    "textclassifier_a_stream": test_model_file.DOCUMENTS,
    "tfidftransformer": sparse.csr_array(test_model_file.WORDS),
    "tfidfvectorizer": test_model_file.DOCUMENTS,
}

LATER = {"Additive", "Classifier", "KMedoids", "Pool"}  # kinds that came after these files


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_model_of_an_earlier_version_answers_as_it_did(path, tmp_path):
    model = posterior.load(path)
    table = TABLES.get(path.stem, test_model_file.X)
    with np.load(path.parent / "answers.npz") as stored:
        asked = [name for name in stored.files if name.partition("/")[0] == path.stem]
        assert asked
        for name in asked:
            _, method, place = name.split("/")
            answer = getattr(model, method)(table)
            answer = answer[int(place)] if isinstance(answer, list) else answer
            answer = answer.toarray() if sparse.issparse(answer) else np.asarray(answer)
            if answer.dtype.kind == "f":  # what is derived from the same sums may round otherwise
                assert_allclose(answer, stored[name], rtol=1e-9, atol=1e-12, err_msg=name)
            else:
                assert_array_equal(answer.astype(stored[name].dtype), stored[name], name)
    posterior.save(model, tmp_path / "again.posterior")
    posterior.load(tmp_path / "again.posterior")


def test_all_kinds_of_models_are_kept_from_the_first_version():
    kinds = {type(posterior.load(path)).__name__ for path in (HERE / "v0.1.0").glob("*.posterior")}
    fitted = {type(model).__name__ for model, _, _ in test_model_file.MODELS.values()}
    assert kinds == fitted - LATER
