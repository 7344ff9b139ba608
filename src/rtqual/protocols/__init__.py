# SPDX-License-Identifier: MIT
"""What can be brought: the types that boards, instruments and loads are made of, the registries, and the record that
comes of a run.

part.py  who brings what
"""
