# SPDX-License-Identifier: MIT
"""The loads that rtqual brings.

stock.py  the loads
wifi.py   two simulated radios, and what is sent between them
"""
