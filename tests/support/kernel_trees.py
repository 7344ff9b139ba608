# SPDX-License-Identifier: MIT
"""Small kernel trees written by hand: make is real, and Kconfiglib answers for the kernel's configuration program."""

import sys
from pathlib import Path

from rtqual.base.architecture import AMD64, Architecture
from rtqual.parts.tailor.configure.tree import Tree, open_tree

_MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 5
EXTRAVERSION =
olddefconfig allnoconfig:
\t@KCONFIG_CONFIG=$(O)/.config {python} -m $@ Kconfig > /dev/null
broken:
\t@echo 'kernel/sched.c:3:1: error: expected identifier' >&2; exit 1
"""
_HEAD = """\
mainmenu "Linux/$(ARCH) Kernel Configuration"

config RT
\tdef_bool y
\tselect ARCH_SUPPORTS_RT

config ARCH_SUPPORTS_RT
\tbool

config MODULES
\tbool "Enable loadable module support"
\tdefault y
\toption modules

"""


def write_tree(folder: Path, kconfig: str, architecture: Architecture = AMD64) -> Tree:
    """A tree whose Kconfig file is `kconfig`, indented by four spaces for tabs, after what every tree has."""
    (folder / "arch/x86").mkdir(parents=True)
    (folder / "arch/x86/Kconfig").write_text("config X86\n\tdef_bool y\n\tselect ARCH_SUPPORTS_RT\n")
    (folder / "Makefile").write_text(_MAKEFILE.format(python=sys.executable))
    (folder / "Kconfig").write_text(_HEAD + kconfig.replace("    ", "\t"))
    return open_tree(folder, architecture)


# What rtqual's guest asks of a kernel besides, and no high-resolution timers.
TINY = """\
CONFIG_64BIT=y
CONFIG_EXPERT=y
CONFIG_PREEMPT_RT=y
CONFIG_PRINTK=y
CONFIG_BUG=y
CONFIG_TTY=y
CONFIG_SERIAL_8250=y
CONFIG_SERIAL_8250_CONSOLE=y
CONFIG_SERIAL_8250_NR_UARTS=4
CONFIG_SERIAL_8250_RUNTIME_UARTS=4
CONFIG_BLK_DEV_INITRD=y
CONFIG_BINFMT_ELF=y
CONFIG_BINFMT_SCRIPT=y
CONFIG_MULTIUSER=y
CONFIG_DEVTMPFS=y
CONFIG_SHMEM=y
CONFIG_TMPFS=y
CONFIG_PROC_FS=y
CONFIG_PROC_SYSCTL=y
CONFIG_SYSFS=y
CONFIG_FUTEX=y
CONFIG_POSIX_TIMERS=y
CONFIG_X86_IOPL_IOPERM=y
"""


def tiny_config(tree: Tree, folder: Path) -> str:
    """The smallest configuration of a real tree that is real-time and boots in the virtual board."""
    tree.make(folder, "tinyconfig")
    with (folder / ".config").open("a") as file:
        file.write(TINY)
    tree.make(folder, "olddefconfig")
    return (folder / ".config").read_text()
