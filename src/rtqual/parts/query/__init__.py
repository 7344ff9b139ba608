# SPDX-License-Identifier: MIT
"""The records of many campaigns, asked in SQL (query.py, views.py); command.py, part.py."""
