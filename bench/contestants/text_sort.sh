#!/bin/sh
# SPDX-License-Identifier: MIT
# The usual pipeline on cyclictest -v: the samples sorted, quantiles by their line.
n=$(wc -l <"$1")
awk -F: '{ print $3 + 0 }' "$1" | sort -n | awk -v n="$n" '
	function rank(part) { return int((n * part + 99999) / 100000) }
	BEGIN { p50 = rank(50000); p99 = rank(99000); p9999 = rank(99990) }
	NR == 1 { low = $1 } NR == p50 { a = $1 } NR == p99 { b = $1 } NR == p9999 { c = $1 } NR == n { high = $1 }
	END { printf "{\"min\": %d, \"p50\": %d, \"p99\": %d, \"p99.99\": %d, \"max\": %d}\n", low, a, b, c, high }'
