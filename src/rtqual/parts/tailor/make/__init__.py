# SPDX-License-Identifier: MIT
"""Building a kernel: build.py, and kbuild.py for what only the build system knows."""
