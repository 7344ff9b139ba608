# SPDX-License-Identifier: MIT
"""Images: what a board boots into besides the kernel.

guest.py  the initial RAM file system of the virtual board, from Debian packages
"""
