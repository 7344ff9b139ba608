# SPDX-License-Identifier: MIT
"""The loads that rtqual brings; the short ones stand in protocols/load/registry.py.

wifi.py  two simulated radios, and what is sent between them
"""
