"""``xplearn play --html``: one episode as a web page."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.rollout.watched import WatchedEnvironment
    from xplearn.types import Observation, Outcome, Task

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 48rem; margin: 0 auto; padding: 1rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit }
form { display: inline }
button, input { font: inherit; padding: .25rem .6rem; margin: .15rem }
input { width: min(24rem, 60vw) }
"""
BAR = (
    '<aside style="position:sticky;bottom:0;padding:.5rem 1rem;margin-top:1rem;border-top:1px solid;background:Canvas;color:CanvasText">'
    '<span role="status">{status}</span> <form method="post" action="/reset"><button>Start again</button></form></aside>'
)


class Episode:
    """One task being played, as a page."""

    def __init__(self, env: WatchedEnvironment, task: Task, seed: int) -> None:
        """Start the episode."""
        self._env, self._task, self._seed = env, task, seed
        self._paged = "env.pages" in env.provides
        self.reset()

    def reset(self) -> None:
        """Start over."""
        self._env.listing = not self._paged
        self._observation: Observation = self._env.reset(self._task, seed=self._seed)
        self._opening = self._env.opening(self._task, self._observation)[-1]["content"]
        self._last: Outcome | None = None
        self._steps = 0

    def act(self, action: str) -> None:
        """Take one action; after the end nothing happens."""
        if not self._ended:
            self._last = self._env.step(action)
            self._observation = self._last.observation
            self._steps += 1

    def page(self) -> str:
        """The environment's own page, or its text with a button for each admissible action; below, where the episode stands."""
        page = self._env.page() if self._paged else self._plain()
        head, end, tail = page.rpartition("</body>")
        return head + BAR.format(status=html.escape(self._status())) + end + tail

    @property
    def _ended(self) -> bool:
        return self._last is not None and (self._last.terminated or self._last.truncated)

    def _status(self) -> str:
        info: Mapping[str, object] = self._last.info if self._last else {}
        words = [f"step {self._steps}", f"score {100 * float(str(info.get('score', 0.0))):.0f} of 100"]
        if self._last is not None and info.get("valid") is False:
            words.append(str(info.get("reason") or "that action was not understood"))
        if self._ended:
            words.append("solved" if info.get("success") else "out of steps" if self._last and self._last.truncated else "not solved")
        return " · ".join(printable(word) for word in words)

    def _plain(self) -> str:
        shown = self._opening if self._last is None else self._observation.text
        offered = () if self._ended else self._observation.actions or ()
        buttons = "".join(f'<button name="action" value="{escaped(action)}">{escaped(action)}</button>' for action in offered)
        free = '<form method="post" action="/act"><input name="action" aria-label="action" autofocus><button>Act</button></form>'
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{escaped(self._task.id)}</title><style>{STYLE}</style></head><body><h1>{escaped(self._task.goal)}</h1>"
            f"<pre>{escaped(shown)}</pre>{'' if self._ended else free}"
            f'<form method="post" action="/act">{buttons}</form></body></html>'
        )


def escaped(text: str) -> str:
    """``text`` for a page: no markup, no control characters."""
    return html.escape(printable(text))
