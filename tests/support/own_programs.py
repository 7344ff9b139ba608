# SPDX-License-Identifier: MIT
"""A mission with a program and loads of its own, and mistakes to make in it."""

MISSION = """\
[mission]
name = "own"
title = "Own programs"
purpose = "A test."
duration = "1 h"

[[candidate]]
name = "rt"
title = "Debian RT"
package = "linux-image-rt-amd64"

[[program]]
name = "loop"
binary = "bin/loop"
arguments = ["500", "70"]
files = { "/opt/tables" = "tables" }
kernel_threads = { "ktimers/*" = 99 }
ready = "operational"
warm_up = "100 ms"
runs_for = "2 s"

[[program.task]]
name = "control"
thread = "gnc-*"
released_by = "timer"
period = "4 ms"
deadline = "3 ms"

[[program.task]]
name = "act"
priority = 60
waits_at = "futex"
after = "control"
deadline = "5 ms"

[[program.output]]
from = "stdout"
format = "csv"
series = { late = "late_ns" }

[[load]]
name = "flood"
command = ["sh", "-c", "while :; do :; done"]

[[load]]
name = "forks"
stress-ng = ["--fork", "2"]

[[load]]
name = "beside"
program = "loop"

[[load]]
name = "hackbench"
groups = 2

[[requirement]]
name = "no miss"
instrument = "program-loop"
load = "flood"
scalar = "control missed"
at_most = 0

[[scale.demo.plan]]
instruments = ["program-loop"]
loads = ["none", "flood", "forks", "beside", "hackbench"]
runs = 1
"""
# What is replaced by what, and a part of the line that must be said; with the number of the file's line.
MISTAKES = (
    ('instrument = "program-loop"\nload', 'instrument = "program-lop"\nload', "did you mean 'program-loop'"),
    ('load = "flood"\nscalar', 'load = "floot"\nscalar', "did you mean 'flood'"),
    ('"flood", "forks"', '"flod", "forks"', "did you mean 'flood'"),
    ('program = "loop"', 'program = "lop"', "load[2].program: unknown program 'lop'"),
    ('deadline = "3 ms"', 'deadline = "5 ms"', "deadline: is longer than the period"),
    ('after = "control"', 'after = "contrl"', "which is no other task"),
    ('after = "control"', 'after = "act"', "which is no other task"),
    ('thread = "gnc-*"\n', "", "says of no thread"),
    ('name = "act"', 'name = "control"', "is the name of two tasks"),
    ('format = "csv"', 'format = "cvs"', "is not allowed; did you mean 'csv'"),
    ('format = "csv"', 'format = "lines"', "match: belongs to format"),
    ('format = "csv"', 'format = "lines"\nmatch = "(?P<x>"', "is no regular expression"),
    ('format = "csv"', 'format = "lines"\nmatch = "(?P<x>.)"', "has no group named 'late_ns'"),
    ('"/opt/tables" =', '"opt/tables" =', "is not a place in the guest"),
    ('"/opt/tables" =', '"/opt/../etc" =', "is no plain path"),
    ('"ktimers/*" = 99', '"ktimers/*" = 100', "should be less than or equal to 99"),
    ('ready = "operational"', 'ready = ""', "ready: has no text"),
    ('command = ["sh", "-c", "while :; do :; done"]', 'comand = ["sh"]', "unknown load 'flood'"),
    ('stress-ng = ["--fork", "2"]', 'stress-ng = ["--fork", "2"]\ncommand = ["x"]', "says twice what it runs"),
    ('name = "forks"', 'name = "flood"', "is the name of another load"),
    ('[[load]]\nname = "forks"', "[[load]]", "load[1].name: is missing"),
    ("groups = 2", "grups = 2", "load[3].grups: unknown key"),
    ('name = "loop"\nbinary', 'name = "Loop"\nbinary', "is not a short name"),
    ('arguments = ["500", "70"]', "arguments = [500]", "should be a string"),
)
