# SPDX-License-Identifier: MIT
"""The studies' systems as candidates."""

from rtqual.engine.candidates.printed import PrintedSystems
from rtqual.parts.studies.catalogue import systems
from rtqual.parts.studies.choice import stated_needs, with_choice
from rtqual.parts.studies.operations import operations
from rtqual.parts.studies.study_records import records

PRINTED = PrintedSystems(systems, records, stated_needs, with_choice, operations)
