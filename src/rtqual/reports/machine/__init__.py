# SPDX-License-Identifier: MIT
"""The evidence for machines: junit.py, prometheus.py, bencher.py, github.py.

regressions.py  what the regression gate found, as text
"""
