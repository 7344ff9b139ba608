# SPDX-License-Identifier: MIT
"""What everything may use.

built.py         which rtqual this is
errors.py        the failures a user sees
units.py         durations and sizes: read, written
user.py          who runs rtqual
words.py         counts and names in sentences, and what characters none may carry
unlinked.py      files in a folder that a stranger may have made
named.py         files and folders that a mission names
elf_file.py      programs, modules and kernels that somebody else linked
architecture.py  the processors that guests run on
libraries.py     libraries that are missing: the command that installs them
program.py       other people's programs, run to their end
child.py         programs that end when rtqual does
interrupt.py     what threads wait for ends when rtqual is interrupted
scratch.py       scratch folders, and those that the dead left
cache.py         the cache that campaigns share; files by their hashes
sparse.py        files that are mostly holes: copied, hashed
disk.py          empty disks
spdx.py          lists of packages, as SPDX has them
apt.py           Debian packages, fetched without installing them
"""
