# SPDX-License-Identifier: MIT
"""What guests boot from.

contents.py  the initial RAM file system of the virtual board, from Debian packages
"""
