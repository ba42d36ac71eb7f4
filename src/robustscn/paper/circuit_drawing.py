"""A drawing of the simulated grinding circuit: mill, sump, hydrocyclone and what flows."""

from __future__ import annotations

from typing import Any

BOXES = {
    "Ball mill\nrocks, solids, fines,\nwater, balls": (3.0, 1.6),
    "Sump\nvolume held": (6.2, 1.6),
    "Hydrocyclone": (6.2, 4.0),
}


def draw_circuit(plt: Any) -> Any:
    """Return a figure of the circuit."""
    figure, axis = plt.subplots(figsize=(9, 4.6), layout="constrained")
    axis.set(xlim=(0, 10), ylim=(0.1, 5.3))
    axis.axis("off")
    box = {"boxstyle": "round,pad=0.5", "facecolor": "#eef2f5", "edgecolor": "#52606d"}
    for text, (x, y) in BOXES.items():
        axis.text(x, y, text, ha="center", va="center", bbox=box, fontsize=10)
    flows = [
        ((0.4, 1.9), (1.9, 1.9), "ore feed (t/h)", (1.1, 2.05), "#c2371e"),
        ((0.4, 1.2), (1.9, 1.2), "mill water (m³/h)", (1.1, 0.9), "#c2371e"),
        ((4.1, 1.6), (5.5, 1.6), "discharge", (4.8, 1.72), "#52606d"),
        ((6.2, 0.3), (6.2, 1.15), "sump water (m³/h)", (7.2, 0.5), "#c2371e"),
        ((6.2, 2.05), (6.2, 3.65), "cyclone feed", (6.95, 2.8), "#52606d"),
        ((5.35, 4.0), (3.0, 2.3), "underflow: coarse, ground again", (2.6, 3.5), "#52606d"),
        ((7.1, 4.0), (9.0, 4.0), "overflow: product", (8.2, 4.15), "#52606d"),
    ]
    for start, end, text, place, colour in flows:
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.5}
        axis.annotate("", xy=end, xytext=start, arrowprops=arrow)
        axis.text(*place, text, ha="center", color=colour, fontsize=9)
    axis.text(
        9.0,
        3.55,
        "PSE: share of the product\nfiner than 75 µm",
        ha="center",
        fontsize=9,
        color="#2a7f62",
    )
    axis.text(
        5.0,
        5.15,
        "Simulated stand-in: target = PSE of this circuit minus that of the mechanism model",
        ha="center",
        fontsize=9,
        style="italic",
    )
    return figure
