# SPDX-License-Identifier: MIT
"""What guests boot from.

guest.py  the initial RAM file system of the virtual board, from Debian packages
"""
