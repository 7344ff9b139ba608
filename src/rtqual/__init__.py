# SPDX-License-Identifier: MIT
"""rtqual: chooses, tailors, drives and qualifies the operating system of a low-cost flight computer.

Data flows one way: mission -> campaign -> records -> analysis -> report.
"""

__version__ = "0.3.0"
