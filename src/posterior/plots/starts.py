"""Several starts of EM: where each ended, and which was kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.plots import look
from posterior.plots.normals import MIXTURES
from posterior.plots.trace import starts_of

KEPT, ENDED, TIRED, COLLAPSED = "kept", "converged", "out of steps", "collapsed"
LOOKS = {
    KEPT: ("diamond", look.PALETTE[1]),
    ENDED: ("circle", look.PALETTE[0]),
    TIRED: ("triangle-up", look.PALETTE[7]),
    COLLAPSED: ("cross", look.INK),
}
ROOM = 0.12  # of the extent, above the best and below the worst


def starts(model: Any) -> look.Chart:
    """The objective of an average row at the end of each start, with a mark at the one kept.

    The objective is the log likelihood, with the log prior if there is one: the higher, the
    better. Starts that collapsed have none, and stand at the foot.

    Parameters
    ----------
    model : fitted GaussianMixture, Mixture or MixtureClassifier

    Returns
    -------
    altair.LayerChart
    """
    alt = look.optional("altair")
    if not isinstance(model, MIXTURES):
        raise TypeError(f"Expected a mixture, which has starts, got {type(model).__name__}.")
    check_is_fitted(model)
    table = starts_of(model)
    end = np.empty(0) if table is None else np.asarray(table["objective"], np.float64)
    known = np.isfinite(end)
    if table is None or not known.any():
        raise ValueError(
            f"Expected starts that ended at a likelihood, got {type(model).__name__} without any. "
            "Fit it to rows whose groups are hidden."
        )
    best = int(np.where(known, end, -np.inf).argmax())
    low, high = float(end[known].min()), float(end[known].max())
    room = ROOM * (high - low) or 1.0
    foot = low - room
    values = [
        {
            "start": i,
            "height": float(end[i]) if known[i] else foot,
            "objective": float(end[i]) if known[i] else None,
            "steps": int(table["steps"][i]),
            "ended": KEPT if i == best else _how(str(table["ended"][i])),
            "how": str(table["ended"][i]),
        }
        for i in range(len(end))
    ]
    shown = [kind for kind in LOOKS if any(row["ended"] == kind for row in values)]
    legend = alt.Legend(title=None, orient="top", labelColor=look.INK, labelFontSize=12)
    scale = {
        name: alt.Scale(domain=shown, range=[LOOKS[kind][i] for kind in shown])
        for i, name in enumerate(("shape", "color"))
    }
    across = look.number_axis("start", len(end))
    across["format"], across["tickMinStep"] = ",d", 1
    up = look.number_axis("objective of an average row", max(abs(low), abs(high)), grid=True)
    x = alt.X("start:Q", axis=across, scale=alt.Scale(domain=[-0.5, len(end) - 0.5], nice=False))
    y = alt.Y(
        "height:Q", axis=up, scale=alt.Scale(domain=[foot - room / 2, high + room], nice=False)
    )
    dots = (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(filled=True, size=110, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("ended:N", scale=scale["color"], legend=legend),
            shape=alt.Shape("ended:N", scale=scale["shape"], legend=legend),
            tooltip=["start:Q", alt.Tooltip("objective:Q", format=".6~g"), "steps:Q", "how:N"],
        )
    )
    top = alt.Chart(alt.InlineData(values=[{"height": high}]))
    rule = top.mark_rule(color=look.INK, strokeDash=[4, 3], opacity=0.6).encode(y=y)
    near = int((end[known] > high - model.tol).sum())
    said = [
        f"Best: {look.digits(high, 6)}, of start {best}. Of {len(end)} starts {near} ended there, "
        "to within tol."
    ]
    if not known.all():
        said.append(f"{int((~known).sum())} collapsed, and stand at the foot.")
    return look.sized(alt.layer(rule, dots), look.heading("Where the starts ended", said))


def _how(ended: str) -> str:
    if ended.startswith(COLLAPSED):
        return COLLAPSED
    return ENDED if ended == ENDED else TIRED
