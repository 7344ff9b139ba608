#!/bin/sh
# SPDX-License-Identifier: MIT
# The usual one-liner on cyclictest -v: smallest, average and largest sample.
exec awk -F: '
	{ v = $3 + 0; sum += v; if (NR == 1 || v < low) low = v; if (v > high) high = v }
	END { printf "{\"min\": %d, \"avg\": %.3f, \"max\": %d}\n", low, sum / NR, high }' "$1"
