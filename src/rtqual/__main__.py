# SPDX-License-Identifier: MIT
"""`python -m rtqual`."""

from rtqual.face.commands.main import main

main()
