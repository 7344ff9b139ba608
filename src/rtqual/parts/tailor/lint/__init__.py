# SPDX-License-Identifier: MIT
"""`rtqual lint`; the rules and the judge are the engine's (engine/kernel/lint/).

stage.py     command.py  words.py   a configuration or a system judged, and told
fragment.py  a configuration fragment that mends what was found
"""
