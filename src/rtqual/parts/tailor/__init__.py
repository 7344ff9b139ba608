# SPDX-License-Identifier: MIT
"""Kernels of one's own.

part.py            what this part brings
command.py         stage.py   a kernel cut down to a mission, built and measured
tailored.py        a tailored kernel as a candidate; steps.py: kernels between two configurations
chapter.py         chapter_steps.py  chapter_roots.py  chapter_lint.py   in the report
configure/         from needs to symbols, and to a final configuration that holds them
make/              the build
lint/              settings that cost latency
trim/              what a scenario showed no use of
built_headers.py   what modules are built against; wishes.py: what of a kernel cannot be had together
tailor_account.py  how a tailored kernel came to be; until.py: stops before the end
"""
