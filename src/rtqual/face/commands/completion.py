# SPDX-License-Identifier: MIT
"""`rtqual completion`."""

import sys
from typing import Literal

# Scales, boards and candidates of the missions on the line; else what cyclopts completes.
_NAMES = r"""
_rtqual_names() {
  local mission
  for mission in "${COMP_WORDS[@]}"; do
    [[ $mission == *.toml && -r $mission ]] || continue
    if [[ $1 == scale ]]; then
      sed -n 's/^[[:space:]]*\[\[*scale\.\([a-z0-9-]*\).*/\1/p' "$mission"
    else
      awk -v table="[[$1]]" -F '[="'\'' \t]+' '/^[ \t]*\[/ { inside = index($0, table) }
        inside && /^[ \t]*name[ \t]*=/ { sub(/^[ \t]+/, ""); print $2 }' "$mission"
    fi
  done | sort -u
}
_rtqual_or_names() {
  local previous=${COMP_WORDS[COMP_CWORD-1]}
  case $previous in
    --scale | --board | --candidate)
      COMPREPLY=($(compgen -W "$(_rtqual_names "${previous#--}")" -- "${COMP_WORDS[COMP_CWORD]}"))
      [[ ${#COMPREPLY[@]} -eq 0 ]] || return 0 ;;
  esac
  _rtqual
}
complete -F _rtqual_or_names rtqual
"""


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print what makes a shell complete rtqual's commands and options, and in bash the names in a mission.

    bash: `rtqual completion bash > ~/.local/share/bash-completion/completions/rtqual`;
    zsh: into a file `_rtqual` in a folder of $fpath; fish: `~/.config/fish/completions/rtqual.fish`.

    Parameters
    ----------
    shell
        The shell that reads it.
    """
    from rtqual.face.commands.commands import application  # noqa: PLC0415 - it names this file

    sys.stdout.write(application(listed=False).generate_completion(shell=shell))
    if shell == "bash":
        sys.stdout.write(_NAMES)
    return 0
