# SPDX-License-Identifier: MIT
"""`rtqual published`."""

import sys
from pathlib import Path

from cyclopts import App

from rtqual.face.commands.app import Json, print_json

published_app = App(name="published", help="Published studies: their figures, and what does not follow from them.")


@published_app.command(name="list")
def published_list() -> int:
    """List the published studies."""
    from rtqual.parts.studies.catalogue import studies  # noqa: PLC0415
    from rtqual.parts.studies.words import catalogue  # noqa: PLC0415

    sys.stdout.write(catalogue(studies()) + "\n")
    return 0


@published_app.command(name="show")
def published_show(key: str, /, *, as_json: Json = False) -> int:
    """Show a study's tables as they were printed, with their units.

    Parameters
    ----------
    key
        The study, as `rtqual published list` names it.
    """
    from rtqual.parts.studies.catalogue import study  # noqa: PLC0415
    from rtqual.parts.studies.words import study_text, study_values  # noqa: PLC0415

    if as_json:
        print_json(study_values(study(key)))
    else:
        sys.stdout.write(study_text(study(key)))
    return 0


@published_app.command(name="audit")
def published_audit(key: str | None = None, /, *, as_json: Json = False) -> int:
    """List every figure and claim that does not follow from the study's own figures.

    Parameters
    ----------
    key
        One study; all of them unless given.
    """
    from rtqual.parts.studies.audit import audit  # noqa: PLC0415
    from rtqual.parts.studies.audits import document  # noqa: PLC0415
    from rtqual.parts.studies.catalogue import studies, study  # noqa: PLC0415
    from rtqual.parts.studies.words import audit_values  # noqa: PLC0415

    if as_json:
        print_json([audit_values(audit(publication)) for publication in (studies() if key is None else (study(key),))])
    else:
        sys.stdout.write(document(key))
    return 0


@published_app.command(name="compare")
def published_compare(key: str, folder: Path, /, *, as_json: Json = False) -> int:
    """Set a study's figures beside those of a campaign that repeats it, and say what agrees.

    Parameters
    ----------
    key
        The study, as `rtqual published list` names it.
    folder
        The campaign's folder. Its candidates say by `repeats` which systems of the study they stand for.
    """
    from rtqual.parts.studies.repeated import repeated  # noqa: PLC0415
    from rtqual.parts.studies.words_compare import comparison_text, comparison_values  # noqa: PLC0415

    found = repeated(key, folder)
    if as_json:
        print_json(comparison_values(found))
    else:
        sys.stdout.write(comparison_text(found))
    return 0
