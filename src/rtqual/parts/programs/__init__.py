# SPDX-License-Identifier: MIT
"""The user's own software, unmodified, as an instrument: judged by the jobs of its threads and by what it prints.

instrument.py      how it runs and is read
program_files.py   what is laid into a guest for it
run_report.py      what rtqual-program says of its run
thread_trace.py    what its threads did, from the log of a plugin; ftrace.py: such a log from the kernel's tracer
thread_jobs.py     jobs of a thread, and what their time was made of
judged.py          from jobs to the figures of tasks
chapter.py         its page of the report; jobs_plot.py: jobs on a time line
printed_series.py  series that it prints itself
tasks.py           what there is to judge of it; command.py: `rtqual program`
part.py            what registers it
played.py          procedures that are played to it; users_program.py: as `rtqual verify` asks for them
begin.py           a whole mission for it
"""
