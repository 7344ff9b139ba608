# SPDX-License-Identifier: MIT
"""What made a sample late: a run that was watched (target/observers/watch.c), told as timelines.

part.py            what this part brings
command.py         words.py   the command, and what it prints
hung.py            where a run stands that hung; again.py: a run made again
stage.py           samples explained; explainable.py: which can be; why.py: those of a campaign, for its report
late_samples.py    where the measured system told; advice.py: what the lint says about it
chapter.py         cause_plots.py   in the report
symbols.py         the kernel's functions and variables by address
modules.py         those of modules, where the kernel does not tell them
processor.py       what differs between x86-64, ARM and FreeRTOS; image.py: what any RTOS image tells of itself
spec.py            what the plugin is to watch
trace.py           the plugin's log
matching.py        which reading of the clock is which sample
roles.py           a camera's frame instead: its readings, and who had its time
windows.py         where the second run looks closer
context.py         thread, calls, interrupts and preemption, block by block
timeline.py        the parts of a sample
sections.py        the longest sections without interrupts or preemption
cause_tally.py     causes of many samples together
stretch_words.py   parts in words
told_by_kernel.py  samples that the measured system's own kernel told
whys.py            timelines as a campaign keeps them
export.py          timelines for trace viewers
"""
