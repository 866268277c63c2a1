"""The models that are compared, from the simplest to the least simple.

Naive Bayes comes first: its parameters are means and shares, its reasons add up, and it goes on
learning. It is tried with normal columns, and with families chosen column by column. Linear
discriminants add one covariance, logistic regression gives up the density for a search, quadratic
discriminants need a covariance for each class, networks count columns together, additive models
have a table for each column, pair and triple, and neighbors keep all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from posterior.estimators import (
    AODE,
    KDB,
    Additive,
    GaussianDiscriminantAnalysis,
    KNeighborsClassifier,
    LogisticRegression,
    NaiveBayes,
    TextClassifier,
)
from posterior.estimators.pool.shrunken_logistic import MOST, shrunken_logistic
from posterior.estimators.pool.sparse_logistic import sparse_logistic
from posterior.estimators.table_classifier import TableClassifier
from posterior.families.binned import Binned
from posterior.preprocessing.numbers import MOST_LEVELS
from posterior.preprocessing.roles import Roles
from posterior.text.damping import UNIT_LOG_COUNTS

Kind = Literal["baseline", "generative", "discriminative", "by example"]

NEIGHBOR_CELLS = 1e10  # rows² × columns that may be looked at; fewer if some cells are missing
LOGISTIC_CELLS = 4e7  # rows × columns × classes of a pass; a fit takes some hundred
CONVEX_CELLS = 1e7  # rows × pairs of columns of a pass
COVARIANCE_COLUMNS = 1000
PATTERNS = 2_000  # of missing cells × classes, of which a covariance is soon learned by EM
PATTERN_COLUMNS = 50  # whose products take as long as all else that is done for a pattern
MANY_CLASSES = 20  # for which a column of words says too many numbers for models that search
PAIR_COLUMNS = 60  # whose pairs, all counted together, are soon counted
SEARCH_COLUMNS = 200  # whose families are searched, and not more than there are rows
SEARCH_VALUES = 4e6  # different values × classes that are counted where families are searched
SEARCH_CELLS = 2e7  # rows × columns × classes in which families or a network are searched
LOGISTIC_DOCUMENTS = 150_000  # times classes
SPARSE, SHRUNKEN = "logistic-sparse", "logistic-shrunken"  # keys of models that choose among all
OF_ALL = "-all"  # columns of a wide table, and of those that read all
SIMPLE = ("naive-bayes", "discriminant", "logistic")  # whose cost is that of some passes
QUICK = ("naive-bayes", "logistic", "additive", "text-multinomial", "text-logistic", SPARSE)
QUICK_CELLS = 2e6  # rows × columns × classes that an additive model takes some seconds for
ADDITIVE_SUMS = 4_000  # columns × classes that a round of boosting adds up for each row and cell
ADDITIVE_TABLES = 10_000  # pairs of columns × classes, where rounds are chosen in every fold anew


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model to be compared, and of how many rows it is worth its time."""

    key: str
    name: str
    kind: Kind
    simplicity: int
    settings: str
    classifier: TableClassifier
    most_rows: int | None = None  # None for all
    searches: bool = False  # for families or a network, in every fold anew


def candidates(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    """All models that can read these columns."""
    return [
        *(_of_tables(roles, n_rows, n_classes) if roles.table else []),
        *(_additive(roles, n_rows, n_classes) if roles.table else []),
        *(_of_texts(roles, n_rows, n_classes) if roles.text else []),
    ]


def of_many_classes(roles: Roles, plain: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    """All models, where a column of words has become a number for each of many classes.

    Those that add up what columns say read these; for those that look for columns, or measure how
    far rows are apart, they would bury the others: they read the plain columns.
    """
    every = [c for c in candidates(roles, n_rows, n_classes) if c.key in SIMPLE]
    return [*every, *(c for c in candidates(plain, n_rows, n_classes) if c.key not in SIMPLE)]


def of_wide(
    roles: Roles, kept: Roles, many_tell: bool, n_rows: int, n_classes: int
) -> list[Candidate]:
    """All models of the columns that are kept of many, and those that choose among all.

    Where more of them tell than are kept, simple models of all columns come beside these.
    """
    outputs = n_classes if n_classes > 2 else 1
    most = int(LOGISTIC_CELLS / (width(roles) * outputs))
    shrunken = Candidate(
        SHRUNKEN,
        "Empirical Bayes logistic regression",
        "discriminative",
        3,
        "Log odds linear in standardized columns, each coefficient as free as its column's likely "
        "effect; how many have one, and how large, is learned from all columns together.",
        shrunken_logistic(roles),
        int(LOGISTIC_CELLS / (min(width(roles), MOST) * outputs)),
    )
    sparse = Candidate(
        SPARSE,
        "Sparse logistic regression",
        "discriminative",
        3,
        "Log odds linear in standardized columns, few of which have a coefficient: lasso or "
        "elastic net, whichever is better, and how strong, is chosen on rows held out.",
        sparse_logistic(roles, n_rows),
        None if n_rows <= most else most,
    )
    every = [
        replace(c, key=c.key + OF_ALL, name=f"{c.name} of all columns")
        for c in (_of_tables(roles, n_rows, n_classes) if many_tell else [])
        if c.key in SIMPLE or (c.key == "neighbors" and width(roles) <= COVARIANCE_COLUMNS)
    ]
    tables = len(kept.table) ** 2 / 2 * outputs
    several = [
        c
        for c in candidates(kept, n_rows, n_classes)
        if tables <= ADDITIVE_TABLES or not c.key.startswith("additive")
    ]
    return [*several, shrunken, sparse, *every]


def quick(listed: Sequence[Candidate], cells: int, n_classes: int) -> list[Candidate]:
    """Those that take a part of the time of all: which, is a matter of rows × columns alone."""
    few = [c for c in listed if c.key.removesuffix(OF_ALL) in QUICK]
    boosted = cells * (n_classes if n_classes > 2 else 1) <= QUICK_CELLS
    return [c for c in few if boosted or c.key != "additive"] or few or list(listed)


def _additive(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    """Tables of columns, pairs and triples, learned to tell the classes apart."""
    d = len(roles.table)
    if n_classes > 2 and d * n_classes > ADDITIVE_SUMS:
        return []
    boosted = Candidate(
        "additive",
        "Additive model",
        "discriminative",
        6,
        "Log odds as a sum of tables of one, two and three columns, boosted; how many rounds is "
        "chosen on rows held out.",
        TableClassifier(Additive(), roles),
    )
    convex = Candidate(
        "additive-convex",
        "Additive model of pairs",
        "discriminative",
        6,
        "Log odds as a sum of tables of one and two columns, penalized; how strongly is chosen on "
        "rows held out.",
        TableClassifier(Additive(solver="convex"), roles),
        int(CONVEX_CELLS / (d * d / 2)),
    )
    few_pairs = d * (d - 1) <= n_rows  # two rows for each: with fewer, folds that end early mislead
    return [boosted, convex] if n_classes == 2 and few_pairs else [boosted]


def width(roles: Roles) -> int:
    """About how many numbers a row becomes."""
    words = ("category", "boolean")
    return sum(
        min(c.distinct, MOST_LEVELS) if c.role in words else 1 + bool(c.missing)
        for c in roles.table
    )


def patterns(roles: Roles, n_rows: int) -> int:
    """In how many ways cells may be missing together, at most."""
    missing = [c.missing for c in roles.table if c.missing]
    return min(n_rows, sum(missing), 2 ** min(len(missing), 40))


def _of_tables(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    numeric = all(c.role in ("number", "date") for c in roles.table)
    p = width(roles)
    gaps = any(c.missing for c in roles.table)
    longer = 1 + (len(roles.table) / PATTERN_COLUMNS) ** 3
    marginal = numeric and patterns(roles, n_rows) * n_classes * longer <= PATTERNS
    share = round(p / (p + n_rows), 4)  # of a sphere: half where columns are as many as rows
    found = [
        Candidate(
            "naive-bayes",
            "Naive Bayes",
            "generative",
            1,
            "Numbers normal and categories as shares, independent given the class; missing cells "
            "are left out.",
            TableClassifier(NaiveBayes(), roles),
        )
    ]
    numbers = (c.distinct for c in roles.table if c.role in ("number", "date"))
    values = sum(min(n, Binned().max_values) for n in numbers)
    few = len(roles.table) <= min(n_rows, SEARCH_COLUMNS) and values * n_classes <= SEARCH_VALUES
    if values and few:
        found.append(
            Candidate(
                "naive-bayes-auto",
                "Naive Bayes by column",
                "generative",
                2,
                "Each column of numbers normal, with heavy tails, or cut into bins, whichever "
                "predicts best; categories as shares, independent given the class.",
                TableClassifier(NaiveBayes("auto"), roles),
                _searched(roles, n_rows, n_classes),
                searches=True,
            )
        )
    if p <= COVARIANCE_COLUMNS:
        found.append(
            Candidate(
                "discriminant",
                "Linear discriminant",
                "generative",
                2,
                f"Normal with one covariance for all classes, {share:.2g} of it a sphere"
                + ("." if numeric else "; categories as zeros and ones."),
                TableClassifier(
                    GaussianDiscriminantAnalysis("shared", shrinkage=share),
                    roles,
                    reads="numbers",
                    keep_missing=marginal,
                ),
            )
        )
    most = int(LOGISTIC_CELLS / (p * (n_classes if n_classes > 2 else 1)))
    found.append(
        Candidate(
            "logistic",
            "Logistic regression",
            "discriminative",
            3,
            "Log odds linear in standardized columns, ridge penalty C = 1"
            + ("." if numeric else "; categories as zeros and ones."),
            TableClassifier(LogisticRegression(), roles, reads="numbers"),
            None if n_rows <= most else max(1000, most),
        )
    )
    if numeric and p <= COVARIANCE_COLUMNS / 4:
        found.append(
            Candidate(
                "quadratic",
                "Regularized discriminant",
                "generative",
                4,
                "Normal, the covariance of each class partly its own, partly that of all, partly a "
                "sphere; how much of each is chosen on rows held out.",
                TableClassifier(
                    GaussianDiscriminantAnalysis("auto", shrinkage="auto"),
                    roles,
                    reads="numbers",
                    keep_missing=not gaps,
                ),
            )
        )
    if 2 <= len(roles.table) <= PAIR_COLUMNS:
        found += _dependent(roles, n_rows, n_classes)
    most, mixed_most = (
        int((NEIGHBOR_CELLS / longer / len(roles.table)) ** 0.5)
        for longer in (10 if gaps else 1, 20)
    )
    # the distance of mixed columns takes longer: of many rows, what has two values is a number
    two_valued = all(c.role != "category" for c in roles.table)
    plain = numeric or (two_valued and n_rows > mixed_most)
    most = most if plain else mixed_most
    found.append(
        Candidate(
            "neighbors",
            "Nearest neighbors",
            "by example",
            5,
            "The nearest rows vote, "
            + ("standardized" if plain else "by a distance of numbers and categories")
            + "; how many is chosen with each row predicted by the others.",
            TableClassifier(
                _neighbors(plain),
                roles,
                reads="numbers" if plain else "table",
                keep_missing=plain,
            ),
            None if n_rows <= most else most,
        )
    )
    return found


def _neighbors(plain: bool) -> KNeighborsClassifier:
    """Nearest by the covariance within classes; or by a distance of numbers and categories."""
    if not plain:
        return KNeighborsClassifier("auto", metric="mixed", weights="auto")
    return KNeighborsClassifier("auto", whiten="auto", weights="auto")


def _dependent(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    """Columns that depend on each other, counted together; numbers are cut into bins."""
    most = _searched(roles, n_rows, n_classes)
    return [
        Candidate(
            "aode",
            "Averaged one-dependence",
            "generative",
            4,
            "The mean of models in which all columns depend on the class and on one column, each "
            "in its turn; numbers cut into bins.",
            TableClassifier(AODE(), roles),
        ),
        Candidate(
            "kdb",
            "Dependence network",
            "generative",
            5,
            "Each column depends on the class and on a few others; which, and how many, is chosen "
            "with each row predicted by the others; numbers cut into bins.",
            TableClassifier(KDB(3, selective=True), roles),
            most,
            searches=True,
        ),
    ]


def _searched(roles: Roles, n_rows: int, n_classes: int) -> int | None:
    """On how many rows something is searched fold by fold; None for all."""
    most = max(1000, int(SEARCH_CELLS / (len(roles.table) * max(n_classes, 1))))
    return None if n_rows <= most else most


def _of_texts(roles: Roles, n_rows: int, n_classes: int) -> list[Candidate]:
    """Models of words, or of letters where the documents are single words."""
    letters = roles.by_letters
    read: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (1, 4)} if letters else {}
    unit = "pieces of up to four letters" if letters else "words"

    def candidate(
        model: str, name: str, kind: Kind, simplicity: int, settings: str, most: int | None = None
    ) -> Candidate:
        text = TextClassifier(model, weighting=UNIT_LOG_COUNTS, **read)
        classifier = TableClassifier(text, roles, reads="documents")
        return Candidate(f"text-{model}", name, kind, simplicity, settings, classifier, most)

    damped = "as logarithms with documents scaled to length one"
    chosen = "; how smooth and how sharp is chosen on documents held out."
    multinomial = candidate(
        "multinomial",
        "Multinomial naive Bayes",
        "generative",
        1,
        f"How often {unit} occur, {damped}, drawn from one urn a class" + chosen,
    )
    complement = candidate(
        "complement",
        "Complement naive Bayes",
        "generative",
        2,
        f"How often {unit} occur, {damped}, drawn from one urn of all other classes" + chosen,
    )
    contrast = candidate(
        "contrast",
        "Contrasting naive Bayes",
        "generative",
        2,
        f"How often {unit} occur, {damped}, the urn of a class against that of all others" + chosen,
    )
    bernoulli = candidate(
        "bernoulli",
        "Bernoulli naive Bayes",
        "generative",
        2,
        f"Which {unit} occur, independent given the class" + chosen,
    )
    most = int(LOGISTIC_DOCUMENTS / (n_classes if n_classes > 2 else 1))
    logistic = candidate(
        "logistic",
        "Logistic model of " + ("letters" if letters else "words"),
        "discriminative",
        3,
        f"Log odds linear in {unit}, each as free as it is telling in naive Bayes, C = 100.",
        None if n_rows <= most else most,
    )
    if n_classes == 2:  # each is all that the other is not
        return [multinomial, bernoulli, logistic]
    return [multinomial, complement, contrast, bernoulli, logistic]
