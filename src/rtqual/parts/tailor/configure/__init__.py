# SPDX-License-Identifier: MIT
"""From a mission's needs to a kernel configuration.

tree.py        a source tree; kconfig.py: its Kconfig, as the kernel's own programs read it
rules.py       needs, removals and what they switch (rules/*.toml); rules_table.py: the same as a table
start.py       where a configuration starts; restore.py: what is put back
chain.py       what stands behind a symbol; steer.py: how to switch one
resolve.py     all of it: the final configuration
difference.py  two configurations; between.py: from one to the other in steps
"""
