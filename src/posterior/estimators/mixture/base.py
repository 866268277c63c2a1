"""Base class of mixtures: EM over hidden groups from several starts, densities and samples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from posterior.data import validate
from posterior.data.rows import HIDDEN, Features, Hard, Rows
from posterior.data.table import Table
from posterior.data.table_columns import Columns
from posterior.data.typing import Array, Floats
from posterior.engines.local import Local
from posterior.estimators import answer_files, joint_answers, remote
from posterior.estimators.base_classifier import explained
from posterior.estimators.estimator import Estimator, learned
from posterior.estimators.mixture.steps import steps
from posterior.generative.em import Ascent, Hidden, Stop
from posterior.generative.evidence_terms import Explanation
from posterior.generative.fitted import Fitted
from posterior.generative.hidden_groups import HiddenGroups, MixtureRule
from posterior.generative.joint import Joint, JointStatistics
from posterior.generative.select_components import best_of_forms, numbers_of, total
from posterior.generative.several_starts import Progress, best_of, warn_of_components
from posterior.generative.start import Start, embedded, first_groups, points_of
from posterior.readers.batch import InOneGroup
from posterior.readers.labels import Labels
from posterior.readers.reader import Reader
from posterior.sources.remote_rows import RemoteRows


def shares(joint: Joint[Any, Any]) -> Floats:
    """The shares of the components."""
    weights = np.exp(joint.log_prior)
    return np.asarray(weights / weights.sum())


class MixtureBase(DensityMixin, Estimator):
    """p(x) = Σ_k π_k p(x | θ_k), the groups k hidden.

    A class says how input is read (`reader`) and how sums become components (`rule`). All that was
    learned is one value, `fitted_`, and how EM went is in its `derived`.
    """

    n_components: Any
    criterion: str
    prior_rows: Any
    tol: float
    max_iter: int
    n_init: int
    init_params: Any
    random_state: Any
    accelerate: bool
    verbose: int
    verbose_interval: int
    warm_start: bool
    fitted_: Fitted
    engine_: ClassVar[Local] = Local()
    predict_file = answer_files.predict_file

    classes_ = learned[Array](lambda fitted: fitted.classes)
    statistics_ = learned[JointStatistics[Any]](lambda fitted: fitted.statistics)
    n_features_in_ = learned[int](lambda fitted: fitted.reader.columns.n)
    feature_names_in_ = learned[Array](
        lambda fitted: fitted.reader.columns.names and fitted.reader.columns.array()
    )
    weights_ = learned[Floats](
        lambda fitted: shares(fitted.model), lambda fitted, weights: fitted.with_prior(weights)
    )
    n_components_ = learned[int](lambda fitted: len(fitted.labels))
    converged_ = learned[bool](lambda fitted: fitted.derived and fitted.derived.converged)
    n_iter_ = learned[int](lambda fitted: fitted.derived and fitted.derived.n_iter)
    lower_bound_ = learned[float](lambda fitted: fitted.derived and fitted.derived.value)
    lower_bounds_ = learned[list[float]](lambda fitted: fitted.derived and [*fitted.derived.trace])
    starts_ = learned[Table](lambda fitted: fitted.derived and fitted.derived.starts)
    selection_ = learned[Table](lambda fitted: fitted.derived and fitted.derived.selection)

    # ---- what a class says ----

    @abstractmethod
    def reader(self) -> Reader:
        """How input is read, before any has come."""

    @abstractmethod
    def rule(self, reader: Reader) -> MixtureRule:
        """How sums become components, as the settings say."""

    def _forms(self, reader: Reader) -> dict[str, MixtureRule]:
        """The rules to choose from, by the form of their components; mostly there is one."""
        return {"": self.rule(reader)}

    def _current(self, reader: Any) -> Any:
        """A reader that was learned, under the settings of today."""
        return reader

    def _points(self, X: Features) -> Any:
        """Rows as k-means sees them."""
        return embedded(X)

    def _columns(self) -> Columns:
        return Columns(type(self).__name__)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        self.reader().describe(tags.input_tags)
        return tags

    # ---- learning ----

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: remote.FilePath | None = None,
    ) -> Self:
        """Learn the components by EM, from `n_init` starts, of which the best is kept.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), or a table elsewhere
            Missing cells are NaN or None. Files (a path, a pattern, a list of paths), a query, or
            a frame of Dask or Spark are read in batches, once for each step of EM; starts are
            found in a sample of 100,000 rows.
        y : ignored
        sample_weight : array of shape (n_samples,), or of a table elsewhere the name of a column
        checkpoint : path, optional
            Where the fit of a table elsewhere writes down what it has summed. Killed and started
            again, it goes on from there to the same model.
        """
        self._validate_params()
        there = remote.located(X, checkpoint)
        if there is None:
            reader, rows = self.learned_rows(X, sample_weight)
            self.fitted_ = self._best(reader, rows, check_random_state(self.random_state))
            return self
        self._check_remote()
        engine, source = there
        weight = remote.weights_of(source, sample_weight)
        with remote.checkpointed(self, engine, source, checkpoint, sample_weight=weight) as engine:
            reader, away, _ = remote.unlabeled_rows(
                (engine, source), self.reader(), weight, InOneGroup(HIDDEN), encoded=False
            )
            if len(away) < 2:
                raise ValueError(f"Expected two rows or more, got a table of {len(away)}.")
            fitted = self._best(reader, away, remote.random_of(self.random_state, engine))
        self.fitted_ = fitted
        return self

    steps = steps

    def learned_rows(self, X: Any, sample_weight: Any) -> tuple[Reader, Rows]:
        """A reader that knows the table, and its rows, of which there are two at least."""
        reader, features = self.reader().learn(X)
        if (n := features.shape[0]) < 2:
            raise ValueError(
                f"Found array with {n} sample(s) (shape={features.shape}) while a minimum of "
                f"2 is required by {type(self).__name__}."
            )
        return reader, self._rows(reader, features, sample_weight)

    def _rows(self, reader: Reader, features: Features, sample_weight: Any) -> Rows:
        """Validated rows, all of hidden groups."""
        n = features.shape[0]
        reader.check(features, fitting=True)
        weight = validate.weights(sample_weight, n)
        return Rows(features, Hard(np.full(n, HIDDEN, np.int32), 1, weight))

    def _check_remote(self) -> None:
        """Refuse settings that need all rows in memory."""
        if not isinstance(self.init_params, str):
            raise ValueError(
                "Expected the name of a first guess for a remote table, got shares of "
                "its rows in init_params."
            )

    def _criterion(self) -> str:
        return self.n_components if isinstance(self.n_components, str) else self.criterion

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Learn the components, and the most probable one of each row."""
        remote.refuse_elsewhere(X, "fit_predict")
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def _best(
        self, reader: Reader, rows: Rows | RemoteRows, random: np.random.RandomState
    ) -> Fitted:
        """The best of all starts, forms and numbers of components."""
        rules, numbers = self._forms(reader), numbers_of(self.n_components, len(rows))
        seed = random.randint(2**31 - 1) if len(rules) > 1 else None  # all forms begin alike

        def learn(some: Rows | RemoteRows, form: str, k: int) -> tuple[Ascent[Any, Any], Table]:
            table = HiddenGroups(reader, rules[form], some, self.engine_)
            own = random if seed is None else np.random.RandomState([seed, k])
            return self.best_start(table, k, own)

        n_shares = next(iter(rules.values())).n_shares
        how = self._criterion(), self.engine_, learn, n_shares
        form, ascent, steps = best_of_forms([*rules], numbers, rows, *how)
        labels = Labels(np.arange(len(ascent.joint.log_prior)))
        statistics = ascent.statistics.compact()
        weight = statistics.weight.rounded()
        warn_of_components(steps, weight, len(rows), Stop(self.max_iter, self.tol))
        return Fitted(reader, labels, rules[form], statistics, ascent.joint, steps)

    def best_start(
        self, table: HiddenGroups, k: int, random: np.random.RandomState
    ) -> tuple[Ascent[Any, Any], Table]:
        """The best of n_init ascents, or one that goes on where the last fit ended; and all."""
        before: Fitted | None = vars(self).get("fitted_") if self.warm_start else None
        again = (
            before is not None
            and before.derived is not None
            and len(before.labels) == k
            and type(before.rule.family) is type(table.rule.family)  # of the same sums
        )
        hidden = table.among(k)
        stop = Stop(self.max_iter, self.tol)
        progress = Progress(self.verbose, self.verbose_interval, self.max_iter)

        def climb() -> Ascent[Any, Any]:
            if again:
                assert before is not None
                joint, value = before.model, before.derived.value
            else:
                joint, value = self._first(table, k, hidden, random), -np.inf
            return table.ascent(hidden, joint, stop, progress, value, self.accelerate)

        return best_of(1 if again else self._n_starts(), climb, progress, table.reader.names)

    def _n_starts(self) -> int:
        return self.n_init

    def _first(
        self, table: HiddenGroups, k: int, hidden: Hidden[Any, Any], random: np.random.RandomState
    ) -> Joint[Any, Any]:
        """The model of a first guess."""
        rows = table.rows.sample
        weight = rows.hard.weight
        if not isinstance(self.init_params, str):
            given = validate.responsibilities(self.init_params, len(rows), k, weight)
            return table.first(hidden, given)
        points = points_of(self._points(rows.X), weight, self.engine_.fill, self.engine_.sum)
        return table.first(hidden, first_groups(cast(Start, self.init_params), points, k, random))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """A step of EM on more rows, which then weigh as a part of all so far (stepwise EM, Cappé
        and Moulines 2009). The first call is `fit`; it should bring rows of every component.

        It is approximate: rows of earlier calls keep the components that they were given then, and
        later chunks weigh more than their share. So chunks should be mixed: of rows that are sorted
        the last are remembered best. One component alone is that of `fit` on all rows.
        """
        if "fitted_" not in vars(self):
            return self.fit(X, sample_weight=sample_weight)
        self._validate_params()
        before, so_far = self.fitted_, self.fitted_.sums
        reader = self._current(before.reader)
        rows = self._rows(reader, reader.read(X, fitting=True), sample_weight)
        table = HiddenGroups(reader, self.rule(reader), rows, self.engine_)
        sums, joint, value = table.step(so_far, before.model)
        steps = before.derived
        if steps is not None:
            steps = replace(steps, trace=(*steps.trace, value))
        self.fitted_ = Fitted(reader, before.labels, table.rule, sums.compact(), joint, steps)
        return self

    def merge(self, other: Self) -> Self:
        """Add what another model of the same components has learned from other rows.

        Component k of one must be component k of the other: models that began from the same
        start, or from copies of one model.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        mine, k = self.fitted_, self.n_components_
        if type(other) is not type(self) or other.n_components_ != k:
            size = f" of {other.n_components_}" if isinstance(other, MixtureBase) else ""
            raise ValueError(
                f"Expected another {type(self).__name__} of {k} components to merge, got a "
                f"{type(other).__name__}{size}."
            )
        mine.reader.check_same(other.fitted_.reader)
        reader = self._current(mine.reader)
        rule, sums = self.rule(reader), mine.sums + other.fitted_.sums
        with rule.collapse(reader.names):
            joint = rule.estimate(sums)
        self.fitted_ = Fitted(reader, mine.labels, rule, sums.compact(), joint, mine.derived)
        return self

    # ---- answers ----

    predict = joint_answers.predict
    predict_proba = joint_answers.predict_proba
    predict_log_proba = joint_answers.predict_log_proba
    predict_joint_log_proba = joint_answers.predict_joint_log_proba
    log_evidence = joint_answers.log_evidence
    evidence = joint_answers.evidence
    parameters = joint_answers.parameters
    family_ = joint_answers.family_
    n_parameters_ = joint_answers.n_parameters_

    def settled(self) -> Fitted:
        """What was learned."""
        check_is_fitted(self)
        return self.fitted_

    def score_samples(self, X: Any) -> Floats:
        """log p(x) of each row: the lower, the stranger."""
        return self.log_evidence(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """log p(x) of an average row."""
        log_likelihood, n = self._log_likelihood(X, sample_weight)
        return log_likelihood / n

    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """Of all rows, and how many there are."""
        log_evidence = self.log_evidence(X)
        weight = validate.weights(sample_weight, len(log_evidence))
        n = len(log_evidence) if weight is None else float(weight.sum())
        return total(weight, log_evidence), n

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log p(X) + p log n: the less, the better (Schwarz 1978)."""
        log_likelihood, n = self._log_likelihood(X, sample_weight)
        return -2 * log_likelihood + self.n_parameters_ * float(np.log(n))

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log p(X) + 2 p: the less, the better (Akaike 1974)."""
        return -2 * self._log_likelihood(X, sample_weight)[0] + 2 * self.n_parameters_

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """-2 log p(X, ẑ) + p log n, where ẑ is each row's most probable component: BIC, and a
        price for rows that are undecided (Biernacki, Celeux and Govaert 2000)."""
        log_posterior = self.predict_log_proba(X).max(axis=1)
        weight = validate.weights(sample_weight, len(log_posterior))
        return self.bic(X, sample_weight) - 2 * total(weight, log_posterior)

    def explain(self, X: Any, of: Any = None, against: Any = None) -> Explanation:
        """One row's odds of a component against another, taken apart by feature.

        By default the most probable component and the runner-up are compared.
        """
        evidence, cells = self.evidence(X), self.fitted_.reader.cells(X)
        return explained(evidence, self.predict_proba(X), cells, of, against)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows and their components, drawn from the model, component by component."""
        fitted = self.settled()
        if not isinstance(n_samples, int | np.integer) or n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples!r}. Expected one row or more."
            )
        random = check_random_state(self.random_state if random_state is None else random_state)
        generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
        features, codes = fitted.model.sample(n_samples, generator, in_order=True)
        return fitted.reader.to_input(features), codes

    def _parameter_table(self) -> Table | None:
        return self.parameters() if self.settled().statistics is not None else None
