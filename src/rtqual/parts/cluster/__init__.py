# SPDX-License-Identifier: MIT
"""Cells of emulated boards on other machines, by dask.distributed (cluster.py); part.py."""
