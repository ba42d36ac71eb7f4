"""
A process plant's historian
===========================

Eleven days of a real process as its historian exported them: 108 tags, every five minutes, words
like "Bad" among the numbers. What is odd about the columns, and which tags contradict the others?
"""

# %%
# Carried by the package ``bibmon`` (Petrobras, Apache 2.0) and kept in the cache.

import matplotlib.pyplot as plt
import pandas as pd

from robustscn import RobustSCNRegressor
from robustscn.datasets import fetch_process

raw = fetch_process()
words = raw.select_dtypes(exclude="number").melt()["value"]
words[pd.to_numeric(words, errors="coerce").isna()].value_counts()

# %%
# Words for "nothing" become gaps. A tag is predicted from the few that go with it by rank; these
# are chosen from the data, since the tags are anonymous.

numbers = raw.apply(pd.to_numeric, errors="coerce")
lively = numbers.loc[:, (numbers.nunique() > 800) & (numbers.isna().mean() < 0.1)]
related = lively.corr("spearman").abs()


def inputs_of(tag, n_inputs=6):
    others = related[tag].drop(tag)
    # A copy of the tag under another name would know its errors too.
    return others[others < 0.98].nlargest(n_inputs).index


def judged(tag):
    """Return the fitted model and the rows it was fitted to."""
    rows = lively[[*inputs_of(tag), tag]].dropna()
    model = RobustSCNRegressor(
        n_networks=4, max_nodes=30, n_rounds=6, second_look=False, n_jobs=1, random_state=0
    )
    return model.fit(rows[inputs_of(tag)].to_numpy(), rows[tag].to_numpy()), rows


# %%
# The six tags that their partners explain best by rank:

tags = related.where(related < 0.98).max().nlargest(6).index
results = {tag: judged(tag) for tag in tags}
summary = pd.DataFrame(
    {
        "rows flagged": {tag: int(m.outliers_.sum()) for tag, (m, _) in results.items()},
        "share wrong": {
            tag: round(m.estimated_outlier_share_, 3) for tag, (m, _) in results.items()
        },
    }
)
summary

# %%
# Over time, for the tag with most flags. Deviations that come in stretches are events, not noise.

tag = summary["rows flagged"].idxmax()
model, rows = results[tag]
plt.rcParams["date.converter"] = "concise"
figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(8.4, 5))
above.plot(rows.index, rows[tag], lw=0.8, color="#8a97a5", label="measured")
above.plot(rows.index, model.expected_, lw=0.8, color="#1f5f8b", label="expected from other tags")
above.plot(
    rows.index[model.outliers_],
    rows[tag][model.outliers_],
    "x",
    ms=4,
    color="#c2371e",
    label="flagged",
)
above.set(ylabel=tag)
above.legend(fontsize=8, ncols=3)
below.plot(rows.index, model.residuals_ / model.residual_scale_, ".", ms=2, color="#2f3e4e")
below.set(ylabel="deviations", ylim=(-15, 15))
plt.show()

# %%
# Nobody knows which of these are faults: there are no labels. It is a list to take to the people
# who run the plant, the strangest first.

model.outlier_table(index=rows.index).head(6).round(2)
