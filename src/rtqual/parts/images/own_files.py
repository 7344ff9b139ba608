# SPDX-License-Identifier: MIT
"""Files of ours that go into images: they lie in files/."""

from importlib.resources import files


def own_text(name: str) -> str:
    return (files("rtqual.parts.images") / "files" / name).read_text()
