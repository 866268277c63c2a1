"""Exercises that are worked by hand, and checked by the package."""

from __future__ import annotations

from posterior.lectures.exercise import Answers, by_hand


@by_hand("000", "Count segments. P(A | B) is the share of A among the segments of B.")
def spinner() -> Answers:
    """A spinner has 12 segments of equal size, numbered 1 to 12.
    A: the number is even. B: the number is above 8.
    What are P(A), P(A and B), P(A or B) and P(A | B)? Are A and B independent (True or False)?"""
    universe = set(range(1, 13))
    A, B = {s for s in universe if s % 2 == 0}, {s for s in universe if s > 8}
    p = {name: len(event) / 12 for name, event in (("a", A), ("both", A & B), ("either", A | B))}
    return {**p, "given": len(A & B) / len(B), "independent": p["both"] == p["a"] * len(B) / 12}


@by_hand("000", "Multiply P(h) by P(D | h) for each h, then divide by the sum of the products.")
def diagnosis() -> Answers:
    """1 of 100 has a disease. A test is positive for 95 of 100 who have it, and for 10 of 100 who
    do not. How probable is the disease after one positive test, and after two, if their errors
    are independent?"""
    from posterior.generative.hypotheses import Hypotheses

    positive = {"ill": 0.95, "well": 0.10}
    once = Hypotheses({"ill": 0.01, "well": 0.99}).given(positive)
    return {"once": once["ill"], "twice": once.given(positive)["ill"]}


@by_hand("000", "Probabilities of one table sum to one, so each table has one number less.")
def parameters() -> Answers:
    """Two classes, 10 columns of yes and no.
    How many numbers do the full tables P(x | y) have, how many does naive Bayes have for them, and
    how many with P(y)?"""
    import numpy as np

    from posterior.estimators import BernoulliNB

    model = BernoulliNB().fit(np.eye(10), np.arange(10) % 2)
    naive = model.n_parameters_
    return {"joint": model.n_joint_parameters_, "naive": naive - 1, "with_prior": naive}


@by_hand("001", "m rows are added, p of them with the value: (n_c + m p) / (n + m).")
def m_estimate() -> Answers:
    """None of 5 rainy days was windy; a column has two values, of which each is as probable.
    What is P(windy | rain) by counting, and by the m-estimate with m = 2 and with m = 20?"""
    from posterior.estimators import NaiveBayes
    from posterior.families import Categorical, MEstimate

    days, kinds = [["calm"]] * 5 + [["windy"]] * 2, ["rain"] * 5 + ["dry"] * 2
    answers = {}
    for name, m in (("counted", 0.0), ("two", 2.0), ("twenty", 20.0)):
        table = NaiveBayes(Categorical(MEstimate(m))).fit(days, kinds).parameters()
        windy = (table["parameter"] == "P(windy)") & (table["class"] == "rain")
        answers[name] = float(table["value"][windy][0])
    return answers


@by_hand("001", "First r = the share of each bell in each row, then the means weighted by r.")
def em_step() -> Answers:
    """Rows 1, 2, 6, 7 come from two normal curves of deviation 2 and equal shares.
    Start at means 3 and 5. What is the share r of the second curve in each of the four rows, and
    what are the two means after one step?"""
    from posterior.estimators import Mixture
    from posterior.families import Gaussian

    rows = [[1.0], [2.0], [6.0], [7.0]]
    curves = Gaussian(None, variance=4.0)
    model = Mixture(curves, 2, shares="equal", means_init=[[3.0], [5.0]])
    expect, maximize = model.steps(rows)[:2]
    return {
        "shares": expect.responsibilities[:, 1],
        "means": maximize.parameters.mean.ravel(),
    }


@by_hand("001", "Assign each row to the nearer center, then take the mean of each group.")
def kmeans_step() -> Answers:
    """Rows (0, 0), (0, 2), (4, 0), (6, 2); centers (0, 0) and (0, 2).
    Which center is each row assigned to (0 or 1; of equally near ones the first), where do the
    centers move, and what is the sum of squared distances to the moved centers?"""
    from posterior.estimators import KMeans

    rows = [[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [6.0, 2.0]]
    assign, move = KMeans(2, init=[[0.0, 0.0], [0.0, 2.0]]).steps(rows)[:2]
    return {"labels": assign.labels, "centers": move.centers, "inertia": move.inertia}


@by_hand("002", "d/dp of 7 ln p + 3 ln(1 - p) is zero where 7 / p = 3 / (1 - p).")
def coin() -> Answers:
    """A coin shows heads in 7 of 10 flips.
    Which p makes that most likely, what is ln L there, and what is it for a fair coin? (Of these
    flips in their order: no binomial coefficient.)"""
    import numpy as np

    from posterior.estimators import BernoulliNB

    flips, one_class = [[1]] * 7 + [[0]] * 3, [0] * 10
    best = BernoulliNB(alpha=0).fit(flips, one_class)
    fair = BernoulliNB.of([[0.5]], [1.0])
    return {
        "p": float(np.exp(best.feature_log_prob_.item())),
        "log_likelihood": best.log_likelihood(flips, one_class),
        "fair": fair.log_likelihood(flips, one_class),
    }


@by_hand("002", "The mean, and the root of the mean square around it: divide by n, not n - 1.")
def normal() -> Answers:
    """Five salmon weigh 26, 29, 30, 31 and 34.
    Which mean and deviation make these weights most likely?"""
    from posterior.estimators import GaussianNB

    weights = [[26.0], [29.0], [30.0], [31.0], [34.0]]
    model = GaussianNB(var_smoothing=0).fit(weights, ["salmon"] * 5)
    return {"mean": model.theta_.item(), "deviation": model.var_.item() ** 0.5}


@by_hand("002", "Take logarithms of 0.7 N(x; 16, 3²) = 0.3 N(x; 30, 4²): a quadratic in x.")
def fish() -> Answers:
    """Trout are 7 of 10 fish and weigh N(16, 3²), salmon weigh N(30, 4²).
    At which two weights are both equally probable (the lower one first), how probable is a trout
    at a weight of 22, and how often does the best rule err?"""
    from posterior.estimators import GaussianNB
    from posterior.evaluation import decision_boundary

    model = GaussianNB.of([16, 30], [3, 4], [0.7, 0.3], classes=["trout", "salmon"])
    trout = model.classes_.tolist().index("trout")
    return {
        "boundaries": decision_boundary(model, form="points").at,
        "trout": model.predict_proba([[22.0]])[0, trout],
        "error": model.bayes_error().probability,
    }


@by_hand("003", "One row adds (y - σ(w · x)) x, and η times that is the step.")
def gradient() -> Answers:
    """w = (0.5, -1, 2) belongs to x = (1, 3, 1), of which the first is the constant; y = 1.
    What are ŷ = σ(w · x), the gradient of the row's log likelihood, and w after one step of
    η = 0.1?"""
    import numpy as np

    from posterior.estimators import LogisticRegression

    w, x = np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0, 1.0])
    model = LogisticRegression.of(w[0], w[1:])
    p = model.predict_proba([x[1:]])[0, 1]
    return {"p": p, "gradient": (1 - p) * x, "moved": w + 0.1 * (1 - p) * x}


@by_hand("003", "σ′ = σ (1 - σ), which is largest where σ = ½.")
def slope() -> Answers:
    """What is the slope of the sigmoid at 0 and at 2, and at which z is it largest?"""
    from posterior.estimators import LogisticRegression

    p = LogisticRegression.of(0.0, [1.0]).predict_proba([[0.0], [2.0]])[:, 1]
    at_0, at_2 = p * (1 - p)
    return {"at_0": at_0, "at_2": at_2, "largest_at": 0}


@by_hand("003", "Each column alone says nothing of y: in both classes it is 1 in half of the rows.")
def exclusive_or() -> Answers:
    """y = x₁ XOR x₂ at the corners of a square.
    What is P(y = 1 | x) at every corner, by naive Bayes and by logistic regression? How many of the
    four rows does logistic regression get right if x₁ x₂ is a third column?"""
    import numpy as np

    from posterior.estimators import BernoulliNB, LogisticRegression

    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    y = X[:, 0] ^ X[:, 1]
    product = np.column_stack([X, X[:, 0] * X[:, 1]])
    return {
        "naive_bayes": BernoulliNB().fit(X, y).predict_proba(X)[0, 1],
        "logistic": LogisticRegression().fit(X, y).predict_proba(X)[0, 1],
        "right": int((LogisticRegression(C=100.0).fit(product, y).predict(product) == y).sum()),
    }


@by_hand("004", "Subtract the two log densities: xᵀ Σ⁻¹ x is in both and cancels.")
def lda_as_logistic() -> Answers:
    """Class 0 is N((0, 0), Σ), class 1 is N((2, 3), Σ), Σ = [[2, 1], [1, 2]]; 4 of 10 rows are of
    class 1. Which w and b give P(y = 1 | x) = σ(b + w · x)?"""
    from posterior.estimators import GaussianDiscriminantAnalysis
    from posterior.evaluation import decision_boundary

    model = GaussianDiscriminantAnalysis.of([[0, 0], [2, 3]], [[2, 1], [1, 2]], [0.6, 0.4])
    (plane,) = decision_boundary(model, form="surfaces")  # log odds of class 0 against class 1
    return {"w": -plane.normal, "b": -plane.offset}


@by_hand("004", "Each vote counts once; sort the distances.")
def votes() -> Answers:
    """Rows (0, 0) and (3, 3) are of class "a", rows (2, 0.5), (2, 4) and (6, 0) of class "b".
    What is the answer at (2, 2) with 1 and with 3 neighbors by Euclid's distance, and with 1 by
    p = 1 (city blocks)?"""
    from posterior.estimators import KNeighborsClassifier

    X, y = [[0, 0], [3, 3], [2, 0.5], [2, 4], [6, 0]], list("aabbb")
    settings = {"one": (1, 2), "three": (3, 2), "blocks": (1, 1)}
    return {
        name: str(KNeighborsClassifier(k, p=p).fit(X, y).predict([[2, 2]])[0])
        for name, (k, p) in settings.items()
    }


@by_hand("004", "Add one to both counts, of seen and not seen: (n + 1) / (rows + 2).")
def laplace() -> Answers:
    """Of 3 spam mails 2 say "win", of 5 others 1 does; "mrbeast" is in none of them.
    With Laplace's rows, what are P(win | spam) and P(mrbeast | spam)? How probable is spam for a
    mail that says both words, with P(spam) = 3/8?"""
    import numpy as np

    from posterior.estimators import BernoulliNB

    X = [[1, 0], [1, 0], [0, 0], [1, 0], [0, 0], [0, 0], [0, 0], [0, 0]]
    model = BernoulliNB(alpha=1).fit(X, ["spam"] * 3 + ["ham"] * 5)
    win, mrbeast = np.exp(model.feature_log_prob_[1])
    return {"win": win, "mrbeast": mrbeast, "spam": model.predict_proba([[1, 1]])[0, 1]}
