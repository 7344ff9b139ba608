#!/bin/sh
# SPDX-License-Identifier: MIT
# Starts F´'s reference deployment with a ground that prints how long its rate groups say they took.
/fprime/ground 50000 rg1=0x200 rg2=0x300 rg3=0x400 &
exec /fprime/Ref -a 127.0.0.1 -p 50000
