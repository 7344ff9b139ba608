# SPDX-License-Identifier: MIT
"""Parts: each a folder with its commands, stages, chapters and data. No floor imports a part, no part another.

bisect/     which change moved the tail
cluster/    cells of emulated boards on other machines
explain/    why a sample was late
images/     system images to flash, and cards for boards without a network
importers/  what other tools measured, as records
programs/   the user's own software, judged job by job
query/      the records of many campaigns in SQL
studies/    five published studies
tailor/     a kernel cut down to a mission
xenomai/    real-time cores beside Linux
yamcs/      the flight program's ground
"""
