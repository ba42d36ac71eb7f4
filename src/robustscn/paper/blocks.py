"""A page as a list of blocks that can be written as Markdown and as HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the page's."""

    level: int
    text: str

    def markdown(self) -> str:
        """Return it as Markdown."""
        return f"{'#' * self.level} {self.text}"

    def html(self) -> str:
        """Return it as HTML."""
        return f"<h{self.level}>{escape(self.text)}</h{self.level}>"


def _inline(text: str) -> str:
    """Return a text with what stands in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str

    def markdown(self) -> str:
        """Return it as Markdown."""
        return self.text

    def html(self) -> str:
        """Return it as HTML."""
        return f"<p>{_inline(self.text)}</p>"


@dataclass(frozen=True)
class Points:
    """A list."""

    items: Sequence[str]

    def markdown(self) -> str:
        """Return it as Markdown."""
        return "\n".join(f"- {item}" for item in self.items)

    def html(self) -> str:
        """Return it as HTML."""
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in self.items) + "</ul>"


@dataclass(frozen=True)
class Table:
    """A table; the first columns, as many as are not numbers, name the row."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return it as Markdown."""
        named = self._named()
        lines = [
            "| " + " | ".join(self.columns) + " |",
            "| " + " | ".join(["---"] * named + ["---:"] * (len(self.columns) - named)) + " |",
            *("| " + " | ".join(row) + " |" for row in self.rows),
        ]
        return f"**{self.title}**\n\n" + "\n".join(lines)

    def html(self) -> str:
        """Return it as HTML."""
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return (
            f'<div class="wide"><table><caption>{escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _named(self) -> int:
        return 2 if self.columns[1] in ("method", "outliers") else 1

    @property
    def width(self) -> int:
        """Characters that a line of it takes: names are broken where they are long."""
        named = self._named()
        lines = [[""] * named + [" "] * (len(self.columns) - named), *self.rows]
        widest = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        heads = [max(len(word) for word in column.split()) for column in self.columns]
        sizes = [
            min(widest[k], LONGEST_NAME) if k < named else max(widest[k], heads[k])
            for k in range(len(self.columns))
        ]
        return sum(sizes) + 2 * len(self.columns)


@dataclass(frozen=True)
class Picture:
    """A figure that lies beside the page as SVG and PNG."""

    name: str
    caption: str

    def markdown(self) -> str:
        """Return it as Markdown."""
        return f"![{self.caption}]({self.name}.svg)\n\n*{self.caption}*"

    def html(self) -> str:
        """Return it as HTML."""
        text = escape(self.caption)
        return (
            f'<figure><img src="{self.name}.svg" alt="{text}">'
            f"<figcaption>{text}</figcaption></figure>"
        )


LONGEST_NAME = 30
"""Characters after which the name of a row is broken."""


@dataclass(frozen=True)
class Folded:
    """Blocks that are there when one asks for them."""

    title: str
    blocks: Sequence[Block]

    def markdown(self) -> str:
        """Return it as Markdown; between blank lines that is read within the HTML too."""
        inside = "\n\n".join(block.markdown() for block in self.blocks)
        return f"{self._opening()}\n\n{inside}\n\n</details>"

    def html(self) -> str:
        """Return it as HTML."""
        inside = "\n".join(block.html() for block in self.blocks)
        return f"{self._opening()}\n{inside}\n</details>"

    def _opening(self) -> str:
        return f'<details class="folded"><summary>{escape(self.title)}</summary>'


Block = Heading | Folded | Text | Points | Table | Picture

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1f2933; background: #fff; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid #d9e0e6;
       padding-top: 1.5rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { padding: .2rem .55rem; text-align: right; white-space: nowrap;
         border-bottom: 1px solid #e4e9ed; font-variant-numeric: tabular-nums; }
th { border-bottom: 2px solid #9aa5b1; white-space: normal; vertical-align: bottom; }
td:nth-child(-n+2), th:nth-child(-n+2) { text-align: left; }
td:nth-child(-n+2) { white-space: normal; max-width: 13rem; }
summary { cursor: pointer; font-weight: 600; padding: .4rem 0; }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; }
figcaption { color: #52606d; font-size: 14px; }
@media print { body { margin: 0; max-width: none; } .wide { overflow: visible; }
               table { font-size: 9px; } figure, table { break-inside: avoid; } }
"""


def markdown(blocks: Sequence[Block]) -> str:
    """Return a page as Markdown."""
    return "\n\n".join(block.markdown() for block in blocks) + "\n"


def html(blocks: Sequence[Block]) -> str:
    """Return a page as HTML."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    body = "\n".join(block.html() for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{body}\n"
        f"</body></html>\n"
    )
