# SPDX-License-Identifier: MIT
"""The scripts of report.html: what they are, where they come from, and the policy that lets no others run.

uPlot (MIT) draws. Its script is 50 kB, against 1.3 MB of Bokeh's and 4.8 MB of Plotly's. It comes in the Python
package youplot; nothing else of the package is used or run. The file must be uPlot's own release, byte for byte.
"""

from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from rtqual.base.errors import BadInput

PACKAGE = "youplot"
RELEASE = "uPlot 1.6.31"
# As its authors published them.
FILES = {
    "youplot/vendor/uplot.iife.min.js": "2d27e8ad3d228164525ce213f9dc716f39b4e3aee0cc773fb3491c96cf4921a2",
    "youplot/vendor/uplot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}
EXPLORER = ("numbers", "samples", "paint", "views", "panel", "controls")  # each uses the scripts before it, and sort


@dataclass(frozen=True)
class Scripts:
    """What stands in the page, as text of script and style elements."""

    scripts: tuple[str, ...]
    styles: tuple[str, ...]

    @property
    def policy(self) -> str:
        """Content-Security-Policy: these scripts, the page's own styles and pictures, and nothing from anywhere."""
        hashes = " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in self.scripts)
        return (
            f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )


@cache
def scripts(*, explorer: bool) -> Scripts:
    """Tables that sort, and with an explorer the plots. Raises BadInput when uPlot is missing or another release."""
    style = _text("interactive.css")
    if not explorer:
        return Scripts((_ours("sort"),), (style,))
    script, uplot_style = (_uplot(name) for name in FILES)
    licence = f"/*! {RELEASE}\n{_text('uplot-license.txt')}*/\n"
    return Scripts((licence + script, _ours("sort", *EXPLORER)), (uplot_style, style))


def _uplot(name: str) -> str:
    mend = f"`pip install --force-reinstall --no-deps {PACKAGE}==1.0.0`"
    try:
        data = Path(str(distribution(PACKAGE).locate_file(name))).read_bytes()
    except (PackageNotFoundError, OSError) as error:
        raise BadInput(f"the report's plots need {RELEASE} from the package {PACKAGE} ({error}): {mend}") from None
    if sha256(data).hexdigest() != FILES[name]:
        raise BadInput(f"{name} of the installed {PACKAGE} is not the file of {RELEASE}: {mend}")
    return data.decode()


def _ours(*names: str) -> str:
    """The scripts in a scope of their own."""
    code = "\n".join(_text(f"{name}.js") for name in names)
    return f'(() => {{\n"use strict";\n{code}}})();\n'


def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text()
