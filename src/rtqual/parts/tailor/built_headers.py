# SPDX-License-Identifier: MIT
"""What modules for a kernel that was built here are built against."""

import shutil
from pathlib import Path

from rtqual.base.cache import cache_dir, locked
from rtqual.base.errors import RunFailed
from rtqual.engine.candidates.headers import Headers
from rtqual.parts.tailor.configure.tree import Tree
from rtqual.parts.tailor.make.build import BuiltKernel


def of_built(tree: Tree, built: BuiltKernel) -> Headers:
    """Of a kernel built here: its tree, its configuration, and what it exports."""
    return Headers(
        built.release,
        tree.architecture,
        (built.sha256,),
        lambda _: tree.command(_prepared(tree, built)),
        tree.environment(),
    )


def _prepared(tree: Tree, built: BuiltKernel) -> Path:
    """A folder of objects that modules can be built in, from the cache where it was made before."""
    place = cache_dir() / "kernel-headers" / built.sha256[:32]
    ready = place / ".ready"  # made last
    with locked(place):
        if not ready.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            (place / ".config").write_text(built.config)
            try:
                shutil.copyfile(built.exported, place / "Module.symvers")
            except FileNotFoundError:
                raise RunFailed(f"the kernel {built.release} loads no modules (CONFIG_MODULES is off)") from None
            tree.make(place, "modules_prepare")
            ready.touch()
    return place
