# SPDX-License-Identifier: MIT
"""The evidence for machines: junit.py, prometheus.py, bencher.py, github.py; sbom_of_runs.py: what ran in the guests.

gate_sections.py what the regression gate found, as text
"""
