"""The process in which a program runs. It knows the program and the calls that are made on it: no test, no expected value, no token."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .channel import receive, send
from .values import decode, encode

NAME = "solution"
"""Module that a program finds itself in; not ``__main__``, so that demonstrations under that guard do not run."""


def serve(requests: int, answers: int, *, sealed: bool) -> None:
    """Answer the judge's requests until it closes, then end without any exit handler. The first may ask whether it is ``sealed``."""
    _forget_packages()
    objects: list[Any] = []
    verbs = {**_VERBS, "sealed": lambda: sealed}

    def refer(value: Any) -> int:
        objects.append(value)
        return len(objects) - 1

    while True:
        try:
            verb, *given = receive(lambda size: os.read(requests, size))
        except EOFError:
            os._exit(0)
        try:
            value = verbs[verb](*(decode(item, objects.__getitem__) for item in given))
            answer = {"value": encode(value, refer)}
        except BaseException as error:  # SystemExit and the like are answers too
            answer = {"raise": [type(error).__name__, _said(error)]}
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        try:
            send(answers, answer)
        except ValueError as error:
            send(answers, {"raise": ["ValueError", str(error)]})


def _forget_packages() -> None:
    """Import nothing but the standard library: the interpreter was started without ``site``, and our own modules go as well."""
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]
    sys.argv[:], sys.orig_argv[:] = [""], [""]
    sys.executable = getattr(sys, "_base_executable", sys.executable)


def _said(error: BaseException) -> str:
    try:
        return str(error)[:500]
    except Exception:  # the program's own exception may refuse
        return ""


def _load(code: str, names: list[str]) -> dict[str, Any]:
    module = ModuleType(NAME)
    sys.modules[NAME] = module
    exec(compile(code, f"<{NAME}>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - this is what the process is for
    return {name: module.__dict__[name] for name in names if name in module.__dict__}


def _call(target: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    return target(*args, **keywords)


_VERBS: dict[str, Callable[..., Any]] = {"load": _load, "call": _call, "get": getattr, "set": setattr, "list": list}
