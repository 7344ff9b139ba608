# SPDX-License-Identifier: MIT
"""Names of a record's facts that more than one package knows."""

STUDY, COMMAND, PRINTED_IN = "study", "command", "printed in"  # of figures that others printed
