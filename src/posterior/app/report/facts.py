"""Facts of a report from a frame, and how the chosen model is used."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from itertools import takewhile
from typing import Any, Unpack

from threadpoolctl import threadpool_limits

from posterior.app.report.alerts_section import alerts
from posterior.app.report.associations_section import associations
from posterior.app.report.boosting_by_folds import boosted, boosting_beside
from posterior.app.report.boundary_section import boundary
from posterior.app.report.columns_section import column_shares
from posterior.app.report.describing import (
    candidate_facts,
    choice_facts,
    data_facts,
    logistic_parameters,
    missing_cells,
    naive_bayes_parameters,
    ranked,
)
from posterior.app.report.headline import classes_of_interest, decisions, summary
from posterior.app.report.importance_section import importance
from posterior.app.report.learned_section import learned_members
from posterior.app.report.learning_section import learning_curves
from posterior.app.report.model_card_section import model_card
from posterior.app.report.report_schema import (
    Facts,
    Failure,
    Importance,
    Parameters,
    Step,
)
from posterior.app.report.sample_section import sample_rows
from posterior.app.report.snippets_section import snippets
from posterior.app.report.strange_rows import Densities
from posterior.app.report.subgroups_section import by_subgroup, missing_facts, predictions
from posterior.app.report.surprises_section import shown_columns, surprises
from posterior.app.report.suspects_section import suspects
from posterior.app.report.telling_words import TellingWords
from posterior.app.report.what_if_section import whole_rows
from posterior.app.report.worst_section import worst
from posterior.app.report.yardstick_section import yardstick
from posterior.data import frames, process
from posterior.engines.local import n_threads
from posterior.estimators import Classifier, NaiveBayes, TableClassifier
from posterior.estimators.pool.fold_models import FoldModels
from posterior.evaluation.gains import gains
from posterior.evaluation.ranking import precision_recall, roc
from posterior.evaluation.reliability import reliability
from posterior.evaluation.scores import confusion
from posterior.evaluation.thresholds import smaller_class
from posterior.preprocessing.belonging import how_held_out
from posterior.preprocessing.infer_roles import infer
from posterior.preprocessing.measured_columns import measured
from posterior.preprocessing.overrides import Overrides
from posterior.selection.comparison import Comparison, Progress, compare, quiet
from posterior.sources.files import column_named

__all__ = ["Facts", "Study", "facts", "study"]

SCHEMA = 1
TIMES = {  # that steps after the comparison take beside naive Bayes, about
    "fold models": 12,
    "learning curves": 12,
    "importance": 6,
    "parameters": 2,
    "boundary": 3,
    "rows": 2,
    "columns by class": 2,
    "worst subgroups": 2,
    "yardstick": 6,
    "drawing": 12,
}
ASKED_QUICK = (
    "Quick, as asked: naive Bayes, logistic regression and, where the table is not too large, an "
    "additive model were compared; others may predict better."
)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A report's facts, the model that was chosen, and the comparison behind both."""

    facts: Facts
    model: Classifier  # of all rows
    comparison: Comparison


@dataclass(slots=True)
class Clock:
    """How long each step took, reported to whoever watches."""

    watch: Progress | None = None
    steps: list[Step] = field(default_factory=list)
    compared: int = 0  # steps of the comparison

    def comparing(self, name: str, done: int, total: int) -> None:
        """A model is tried."""
        self.compared = total
        if done < total:
            self._tell(f"comparing: {name}", done)

    def begin(self, name: str) -> None:
        """A step after the comparison is taken."""
        before = takewhile(lambda step: step != name, TIMES)
        self._tell(name, self.compared + sum(TIMES[step] for step in before))

    def _tell(self, name: str, done: int) -> None:
        if self.watch is not None:
            self.watch(name, done, self.compared + sum(TIMES.values()))

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        if name in TIMES:
            self.begin(name)
        started = time.perf_counter()
        yield
        self.steps.append(Step(name, time.perf_counter() - started))


def facts(frame: Any, target: str, **options: Any) -> Facts:
    """All that a report says; see `study` for the options."""
    return study(frame, target, **options).facts


@threadpool_limits.wrap(limits=1, user_api="blas")  # for small systems threads wait, and no more
def study(
    frame: Any,
    target: str,
    *,
    source: str = "table",
    notes: Collection[str] = (),
    subgroup: Collection[str] = (),
    seed: int = 0,
    quick: bool = False,
    progress: Progress | None = None,
    **overrides: Unpack[Overrides],
) -> Study:
    """Compare models of a table, choose one, and gather what there is to say about it.

    Parameters
    ----------
    frame : of pandas, polars, pyarrow, ...
    target : name of the column to predict
    source : name of the file
    notes : sentences to say about the data, such as those of `posterior.sources.files.read`
    subgroup : names of columns to score by; by default up to three of few values
    seed : of the folds and samples
    quick : whether to compare naive Bayes, logistic regression and an additive model alone
    progress : called with what is done, how many steps are done, and how many there are
    overrides : what the columns are, as `posterior.preprocessing.infer_roles.infer` takes it
    """
    started, clock = time.perf_counter(), Clock(progress)
    kinds, told = ("quick", (*notes, ASKED_QUICK)) if quick else (None, tuple(notes))
    beside = process.is_ours and not quick and n_threads() > 1  # a fourth of a small report
    begin = boosting_beside() if beside else partial(partial, boosted)
    with clock.step("columns"):
        seen = infer(frame, target, **overrides)
        roles, frame = seen.without_suspects(), seen.read(frame)
        table = frames.as_frame(frame)
        assert table is not None
        asked = tuple(column_named(table.columns, name) for name in subgroup)
    with clock.step("comparison"):
        comparison = compare(
            frame, target, roles=roles, models=kinds, seed=seed, progress=clock.comparing
        )
    rows, chosen, roles = comparison.rows, comparison.chosen, comparison.roles
    external = None if quick else yardstick(comparison, begin)
    with clock.step("suspects"):
        suspected = suspects(frame, seen, seed)
    with clock.step("model"):
        model = comparison.classifier
    with clock.step("scores"):
        data = data_facts(frame, rows, roles, source, told)
        decided = decisions(comparison)
        drawn = smaller_class(chosen.held_out) or 0  # of two, the one that the headline is about
        gaps = missing_cells(rows.frame, roles.used)
        judged = [("", chosen.held_out)]
        if chosen.corrected:
            judged.append((" before calibration", chosen.raw))
    given = comparison.columns
    with clock.step("fold models"):
        fold_models = FoldModels.of(model.fitted_, rows.dealt)
    with clock.step("learning curves"):
        listed = {j.key: j.candidate for j in comparison.judged if j.candidate is not None}
        read = "text" if chosen.key.startswith("text-") or not given.roles.table else "table"
        keys = {"text": ("text-multinomial", "text-logistic"), "table": ("naive-bayes", "logistic")}
        pair = [listed[key] for key in keys[read] if key in listed]
        # all rows have chosen the columns of a wide table: what few learn of these is no guide
        curves = rows, fold_models, chosen.name, pair, seed
        learning = None if roles.screened else learning_curves(*curves)
    with clock.step("importance"):
        evidence, lost = importance(fold_models, rows)
        plain = {column.name for column in roles.table_columns}
        telling = [feature.name for feature in evidence if feature.name in plain]
    with clock.step("parameters"):
        parameters: list[Parameters] = []
        if given.roles.table:
            table = rows.reading(TableClassifier(NaiveBayes(), given.roles))
            with quiet():
                naive = NaiveBayes().fit(table, rows.y)
            parameters = [naive_bayes_parameters(naive, telling)]
        learned = learned_members(model, telling)
        logistic = logistic_parameters(comparison, rows)
        parameters += [logistic] if logistic is not None else []
        shown = {member.name for member in learned if member.parameters is not None}
        parameters = [found for found in parameters if found.model not in shown]
    with clock.step("boundary"):
        picture = boundary(rows, roles, telling, _heaviest(comparison), seed)
    with clock.step("rows"):
        multinomial = listed.get("text-multinomial")
        words = None if multinomial is None else TellingWords.learn(rows, roles, multinomial)
        densities = Densities.of(rows, given.roles, seed) if given.roles.table else None
        ranked_names = [feature.name for feature in evidence]
        surprising = surprises(chosen, rows, roles, fold_models, ranked_names, densities)
        sample = sample_rows(chosen, rows, shown_columns(roles, ranked_names), seed)
    with clock.step("columns by class"):
        rank = {feature.name: place for place, feature in enumerate(evidence)}
        ordered = sorted(roles.used, key=lambda column: rank.get(column.name, len(rank)))
        cells = measured(rows.frame, ordered)
        shares = column_shares(cells, rows.codes, len(rows.classes))
        associated = associations(cells, rows.dealt.order)
    with clock.step("worst subgroups"):
        worse = worst(chosen.held_out, cells, chosen.index)
    with clock.step("yardstick"):
        line = None if external is None else external()
    found_among_rest = [gains(chosen.held_out, k) for k in classes_of_interest(comparison, decided)]
    choice = choice_facts(comparison, summary(comparison, decided), suspected)
    failures = [Failure(name, reason) for name, reason in comparison.failures]
    (base,) = (j.held_out.log_loss for j in comparison.judged if not j.is_model)
    clock.begin("drawing")  # by whoever asked for the facts
    found = Facts(
        schema=SCHEMA,
        version=version("posterior"),
        title=f"{target} in {source}",
        target=target,
        classes=rows.names,
        seed=seed,
        folds=1 if roles.time is not None else rows.n_folds,
        seconds=time.perf_counter() - started,
        steps=clock.steps,
        data=data,
        candidates=[candidate_facts(j, len(rows)) for j in comparison.judged],
        failures=failures,
        choice=choice,
        reliability=[reliability(h, chosen.name + said) for said, h in judged],
        decisions=decided,
        confusion=confusion(chosen.held_out).tolist(),
        roc=roc(chosen.held_out, drawn),
        precision_recall=precision_recall(chosen.held_out, drawn),
        learning=learning,
        evidence=evidence,
        importance=lost,
        learned=learned,
        terms=[] if words is None else words.terms(),
        boundary=picture,
        surprises=surprising,
        subgroups=by_subgroup(chosen, rows, roles, asked),
        missing=missing_facts(chosen, roles, gaps),
        parameters=parameters,
        snippets=snippets(source, roles, decided, quick=quick),
        predictions=predictions(chosen, rows),
        how=how(comparison, lost),
        alerts=alerts(data, choice, failures, chosen.held_out, base),
        column_shares=shares,
        associations=associated,
        sample=sample,
        whole_rows=whole_rows(rows, model, sample, surprising),
        gains=found_among_rest[0] if found_among_rest else None,
        class_gains=found_among_rest,
        worst=worse,
        yardstick=line,
    )
    return Study(replace(found, card=model_card(found, comparison)), model, comparison)


def how(comparison: Comparison, lost: Importance | None) -> list[str]:
    """Sentences that say what the numbers mean."""
    n_folds = comparison.rows.n_folds
    one = len(comparison.chosen.index) < len(comparison.rows)
    dealt = (
        f"Rows were assigned to {n_folds} folds by class and content, so that their order does "
        "not matter; all models were compared on the same folds, each row predicted by models "
        "fitted without it"
        + (", one fold of them, which is enough of so many rows." if one else ".")
    )
    said = [
        *(how_held_out(comparison.roles) or [dealt]),
        "Log loss is the mean of -log of the probability that a row's own class got, in nats; the "
        "Brier score is the mean squared distance between probabilities and the truth, summed over "
        "classes; standard errors are from fold to fold.",
        "The calibration error is the mean distance between the probabilities of about equally "
        "probable rows and the observed frequency; its standard error is a jackknife "
        "over folds.",
        "All together is the sum of the models' log probabilities, by the weights of least log "
        "loss on the held-out rows; each fifth of these is scored by the weights of the others. "
        "One model is kept alone where it is ahead of that by two standard errors, row by row.",
        "A model alone is calibrated by one temperature and by class shares, and each fifth of the "
        "rows is scored by those of the others.",
        "Precision is the share of the rows predicted as a class that are of it, recall the share "
        "of its rows that are predicted as it, F1 their harmonic mean; the threshold of the "
        "largest F1 is chosen on the same rows that it is scored on.",
        "Importance, reasons for rows and the learning curve of the chosen model are by copies of "
        "it fitted without the fold of the row, with the members, settings and "
        "weights that all rows have chosen.",
        "The importance of a column is the mean, over held-out rows, of log p(own class) with all "
        "columns less that without it, and the standard error of this mean. A column is left out "
        "as each model leaves out a missing value; the tables of an additive model that it is part "
        "of add nothing, and logistic regression takes its mean. Nothing is learned again, so "
        "columns that say the same share the credit, or hide each other.",
        "The weight of evidence of a column in a row is by how much it changes the log odds of the "
        "row's own class against the strongest other one.",
        "Intervals of precision and recall are Wilson's, at 95 %. F1 is 2J / (1 + J), where J is "
        "the share of hits among the rows that are of the class or predicted as it; its interval "
        "is that of J, Wilson's too.",
        "Associations are |Spearman's rank correlation| of two numbers, Cramér's V of two "
        "categories and the correlation ratio of one of each, the last two corrected for what "
        "chance gives; rows in which either cell is missing are left out of the pair.",
        "Worst subgroups are values of categories, quartiles of numbers and missing values, of one "
        "column and of two. Their losses are compared with those of all other rows by Welch's t, "
        "and p-values are corrected after Holm for all that were looked at.",
    ]
    if comparison.roles.screened:
        said.append(
            "Columns were screened again without each fold, and scores of models are of rows that "
            "had no part in that; the importance of columns is of those that all rows have chosen, "
            "and may be a little too good."
        )
    if lost is not None and len(lost.rows) < len(comparison.rows):
        said.append(
            f"Importance is that of {len(lost.rows):,} of {len(comparison.rows):,} held-out "
            "rows, drawn by class and content."
        )
    return said


def _heaviest(comparison: Comparison) -> str:
    """The key of the model that counts most."""
    name = ranked(comparison.classifier.weights_)[0][0]
    return next(j.key for j in comparison.judged if j.name == name)
