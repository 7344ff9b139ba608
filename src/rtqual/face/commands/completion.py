# SPDX-License-Identifier: MIT
"""`rtqual completion`."""

import sys
from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print what makes a shell complete rtqual's commands and options.

    bash: `rtqual completion bash > ~/.local/share/bash-completion/completions/rtqual`;
    zsh: into a file `_rtqual` in a folder of $fpath; fish: `~/.config/fish/completions/rtqual.fish`.

    Parameters
    ----------
    shell
        The shell that reads it.
    """
    from rtqual.face.commands.commands import application  # noqa: PLC0415 - it names this file

    sys.stdout.write(application(listed=False).generate_completion(shell=shell))
    return 0
