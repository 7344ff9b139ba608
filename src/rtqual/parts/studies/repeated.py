# SPDX-License-Identifier: MIT
"""`rtqual published compare`: a study beside the campaign that repeats it."""

from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.campaign import folder as kept
from rtqual.parts.studies.repetition import Repeated, compare


def repeated(key: str, folder: Path) -> Repeated:
    """Raises BadInput where the folder is no campaign, or has nothing that the study printed."""
    campaign = kept.load(folder)
    summaries = [measure(*pair).summary for pair in groups(campaign.result.records).items()]
    found = compare(key, campaign.mission, summaries)
    if not found.pairs:
        why = f" ({found.apart[0]})" if found.apart else ""
        raise BadInput(
            f"{folder}: has nothing to set beside study {key}{why}; say by a candidate's key repeats which of its "
            "systems it stands for, and measure with the study's parameters (docs/repeated.md)"
        )
    return found
