# SPDX-License-Identifier: MIT
"""A kernel tree of a few files that builds like a kernel's, in a second."""

from pathlib import Path

from rtqual.parts.tailor.configure.tree import Tree, open_tree

CONFIG = "CONFIG_MODULES=y\nCONFIG_PREEMPT_RT=y\n"
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 3
CC ?= gcc
olddefconfig:
	@true
bzImage:
	@mkdir -p $(O)/arch/x86/boot $(O)/include/config
	@echo '  CC      main.o'
	@$(CC) -Wno-date-time -c main.c -o $(O)/main.o
	@echo '  LD      vmlinux'
	@cp $(O)/main.o $(O)/arch/x86/boot/bzImage
	@echo "built by $(KBUILD_BUILD_USER) at $(KBUILD_BUILD_TIMESTAMP)" >> $(O)/arch/x86/boot/bzImage
	@echo '0000 T __x64_sys_read' > $(O)/System.map
	@echo 6.12.3 > $(O)/include/config/kernel.release
modules:
	@echo 0x00000000 printk vmlinux EXPORT_SYMBOL > $(O)/Module.symvers
modules_prepare:
	@touch $(O)/prepared
modules_install:
	@mkdir -p $(INSTALL_MOD_PATH)/lib/modules/6.12.3
	@touch $(INSTALL_MOD_PATH)/lib/modules/6.12.3/modules.builtin
	@ln -sfn $(O) $(INSTALL_MOD_PATH)/lib/modules/6.12.3/build
"""


def small_tree(folder: Path, source: str = "int main(void) { return 0; }\n") -> Tree:
    (folder / "arch/x86").mkdir(parents=True, exist_ok=True)
    (folder / "arch/x86/Kconfig").write_text("config X86\n\tselect ARCH_SUPPORTS_RT\n")
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "main.c").write_text(source)
    return open_tree(folder)
