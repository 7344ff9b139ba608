# SPDX-License-Identifier: MIT
"""A board, an instrument, a load, a chapter, a mission's table and a format to import that rtqual does not have."""
