# SPDX-License-Identifier: MIT
"""Python's libraries that analysis and report need: the command that installs those that are missing."""

import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from shlex import quote

_NAME = re.compile(r"[\w.-]+")


def install_command(modules: Iterable[str]) -> str:
    """With the versions that rtqual asks for, into the Python that runs it; a tool of uv's has no pip."""
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - slow to load, and told once

    try:
        asked = [require.partition(";")[0].strip() for require in requires("rtqual") or ()]
    except PackageNotFoundError:  # the sources, not installed
        asked = []
    versions = {_module(name): name for name in asked}
    wanted = " ".join(quote(versions.get(module, module)) for module in modules)
    installer = f"{sys.executable} -m pip install" if find_spec("pip") else f"uv pip install --python {sys.executable}"
    return f"{installer} {wanted}"


def _module(requirement: str) -> str:
    name = _NAME.match(requirement)
    return name[0].replace("-", "_").lower() if name else requirement
