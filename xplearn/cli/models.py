"""``xplearn models``."""

from __future__ import annotations

import argparse

from xplearn.cli.arguments import Commands, add_command

EXAMPLES = """  xplearn models list
  xplearn models get smollm2    SmolLM2-135M-Instruct (Apache-2.0, 93 MB), converted once into your cache
  xplearn models get minilm     the sentence encoder all-MiniLM-L6-v2
"""


def add(commands: Commands) -> None:
    """Register the command."""
    parser = add_command(commands, "models", "get the weights that xplearn can fetch by itself", EXAMPLES)
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    get = add_command(verbs, "get", "fetch, check and convert a model", "  xplearn models get smollm2\n")
    get.add_argument("name", help="e.g. smollm2")
    get.set_defaults(call=get_model)
    listing = add_command(verbs, "list", "what can be fetched, and what is here", "  xplearn models list\n")
    listing.set_defaults(call=list_models)


def get_model(args: argparse.Namespace) -> int:
    """Fetch a model and print its folder."""
    import sys

    from xplearn.policies import backbone

    folder = backbone.get(args.name, progress=lambda text: print(text, file=sys.stderr, flush=True))
    print(folder)
    return 0


def list_models(_: argparse.Namespace) -> int:
    """Print the table of known models."""
    from xplearn.policies import backbone

    for row in backbone.status():
        print(row)
    return 0
