# SPDX-License-Identifier: MIT
"""The audits as one document: docs/verification/published-audit.md is that of all studies, word for word."""

from rtqual.parts.studies.audit import audit
from rtqual.parts.studies.catalogue import StudyChoice, studies, study
from rtqual.parts.studies.words import audit_text

_METHOD = """# The published studies, audited

`rtqual published audit` writes this. rtqual holds the figures of five published studies as they were printed and
computes again what can be computed from them: differences, parts, summaries over CPUs, figures that two tables
share, and sentences of the text. It lists what does not follow, with both figures. It says nothing about figures that
stand alone.

How it judges:

- A printed figure stands for all that rounds to it: 0.25 for 0.245 to 0.255. All arithmetic is interval arithmetic on
  these, in decimals. Only what lies outside is listed, so some figures that look wrong are not: rounding allows them.
  One that rounding allows is listed all the same when it is the next row's, to six digits or more.
- What a tool cuts stands for all up to the next: cyclictest's 4 us for 4 to 5.
- A figure that another table repeats must have the same digits.
- A limit ("more than 9 ms") is a limit, not a figure.
- Words are read as loosely as they can be: "several" and "a few" are at least one, "negligible" and "slight" are
  less than double, "around", "almost" and "nearly" leave the last digit that is not zero open (of 100: 50 to 150).
  A number without such a word is taken as printed. A sentence that leaves open what it means is not judged, and said
  to be so.
- Kinds: *row shift* (it is the row's above or below), *factor of ten*, *lost sign*, *transposed* (two digits are
  exchanged), *other statistic* (it is right for another one than its column says), *copy disagrees*, *impossible*
  (the other figures leave no room for it), *difference* (none of these), *claim does not hold*, *statement about
  order*.
- Square brackets hold what rounding leaves open for the recomputed figure.
"""


def document(key: str | None = None) -> str:
    """The audit of one study, or of all of them with the method. Markdown. Raises BadInput for an unknown key."""
    parts = [_METHOD] if key is None else []
    for publication in studies() if key is None else (study(key),):
        parts.append(audit_text(audit(publication)))
        if publication.choice is not None:
            parts.append(_choice(publication.key, publication.choice))
        if publication.beside:
            parts.append(publication.beside)
    return "\n".join(parts)


def _choice(key: str, choice: StudyChoice) -> str:
    mission = f"`rtqual select missions/{key}-study.toml`"
    return (
        f"The rule it chose by ({choice.place}): {choice.rule} {mission} makes the choice again, from these figures.\n"
    )
