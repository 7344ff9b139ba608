#!/bin/sh
# SPDX-License-Identifier: MIT
# Starts F´'s reference deployment again whenever it has ended, as a service would.
while :; do
	/fprime/Ref -a 127.0.0.1 -p 50000
done
