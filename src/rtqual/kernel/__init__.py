# SPDX-License-Identifier: MIT
"""Kernels of one's own: needs to symbols, a final configuration that holds them, its lint, and the build."""
