# SPDX-License-Identifier: MIT
"""What guests boot from.

appended.py  the same with files of the user's behind it
contents.py  the initial RAM file system of the virtual board, from Debian packages
remote.py    that of boards over ssh
"""
