# SPDX-License-Identifier: MIT
"""`python -m rtqual`."""

from rtqual.cli.main import main

main()
