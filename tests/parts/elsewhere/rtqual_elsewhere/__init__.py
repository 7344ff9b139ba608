# SPDX-License-Identifier: MIT
"""A board, an instrument, a load and a chapter that rtqual does not have."""
