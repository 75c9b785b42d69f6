"""A small SVG kit."""

from __future__ import annotations

from importlib.resources import files


def stylesheet() -> str:
    """``kit.css``: the colours of every drawing, in light and dark; the page that holds drawings includes it once."""
    return files(__package__).joinpath("kit.css").read_text(encoding="utf-8")
