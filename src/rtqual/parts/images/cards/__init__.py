# SPDX-License-Identifier: MIT
"""A board without a network: what measures it lies on a card.

card.py        the card, written, and read again
card_board.py  the board of a mission that is measured so
card_trial.py  it measures on an emulated Raspberry Pi
stage.py       words.py   cards made and taken; what is printed of them; command_import.py: `rtqual import`
"""
