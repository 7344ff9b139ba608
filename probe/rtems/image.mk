# SPDX-License-Identifier: MIT
# RTEMS built for QEMU's board `virt`, and the image linked of it and the probe; part of Makefile (docs/rtems.md).
ifeq ($(wildcard $(RTEMS)/bsps/arm/xen/include/bsp.h),)
$(error no RTEMS in RTEMS='$(RTEMS)': bsps/arm/xen/include/bsp.h is to be there (docs/rtems.md))
endif
ifeq ($(wildcard $(TOOLS)/bin/arm-rtems7-gcc $(NEWLIB)/newlib/Makefile.in),)
$(error neither RTEMS's tools in TOOLS='$(TOOLS)' (bin/arm-rtems7-gcc) nor newlib in NEWLIB='$(NEWLIB)' \
	(newlib/Makefile.in): give one of them (docs/rtems.md))
endif

# What is given here is not meant for the makefiles of newlib.
MAKEOVERRIDES :=
WHERE := $(abspath $(BUILD))
TREE := $(WHERE)/rtems
PACKAGE := $(WHERE)/installed/arm-rtems7/xen_virtual/lib/librtemsbsp.a
RTEMS_INCLUDE := $(dir $(PACKAGE))include
CC := arm-rtems7-gcc
AR := arm-rtems7-ar
ifeq ($(TOOLS),)
TOOLS := $(WHERE)/tools
MADE := $(TOOLS)/arm-rtems7/lib/libc.a
endif
export PATH := $(abspath $(TOOLS))/bin:$(PATH)

.PHONY: image
image: $(BUILD)/rtems.elf
# The linker's file names the start code itself. Debugging information would hold this folder.
$(BUILD)/rtems.elf: $(BUILD)/librtqual-probe-rtems.a $(PACKAGE)
	$(CC) $(CPU) -qrtems -nodefaultlibs -L$(dir $(PACKAGE)) -T linkcmds -Wl,--gc-sections,--strip-debug \
		-Wl,--whole-archive $< -Wl,--no-whole-archive -Wl,--start-group -lrtemsbsp -lrtemscpu -lc -lgcc -Wl,--end-group \
		-o $@

# The board support package for Xen's virtual machine, in a tree of links: what differs on `virt` are three addresses.
# The debugger's server and the C++ parts do not compile with Debian's compiler, and are not needed.
define CONFIG
[arm/xen_virtual]
BSP_XEN_RAM_LENGTH = 0x08000000
BSP_XEN_LOAD_OFFSET = 0x00400000
BUILD_SAMPLES = False
OPTIMIZATION_FLAGS = -O2
endef
export CONFIG
$(PACKAGE): $(MADE)
	rm -rf $(TREE) && mkdir -p $(TREE) && cp -rs $(abspath $(RTEMS))/. $(TREE)
	sed -i -e 's/CPUIF_BASE 0x03002000/CPUIF_BASE 0x08010000/' -e 's/DIST_BASE 0x03001000/DIST_BASE 0x08000000/' \
		-e 's/VPL011_BASE 0x22000000/VPL011_BASE 0x09000000/' $(TREE)/bsps/arm/xen/include/bsp.h
	sed -i '/^- role/{N; /libdebugger\|librtemscxx/d}' $(TREE)/spec/build/cpukit/grp.yml
	rm -f $(TREE)/config.ini && echo "$$CONFIG" >$(TREE)/config.ini
	cd $(TREE) && export GIT_CEILING_DIRECTORIES=$(abspath $(TREE)/..) && ./waf configure --prefix=$(WHERE)/installed --rtems-tools=$(abspath $(TOOLS)) && ./waf && ./waf install

# Debian's newlib is configured without RTEMS. Its makefile copies some of the mathematics' objects into libc.a by names
# that they do not have; libm.a has them.
$(MADE): HEADERS := -isystem $(WHERE)/newlib/targ-include -isystem $(abspath $(NEWLIB))/newlib/libc/include
$(MADE):
	mkdir -p $(TOOLS)/bin $(WHERE)/newlib
	cp $(HERE)arm-rtems7-gcc $(TOOLS)/bin/ && ln -sf arm-rtems7-gcc $(TOOLS)/bin/arm-rtems7-g++
	for one in ar as ld nm objcopy ranlib size strip; do \
		ln -sf "$$(command -v arm-none-eabi-$$one)" $(TOOLS)/bin/arm-rtems7-$$one; done
	cd $(WHERE)/newlib && $(abspath $(NEWLIB))/newlib/configure --host=arm-rtems7 --prefix=$(TOOLS) --disable-multilib \
		CC=$(CC) CCAS=$(CC) AR=$(AR) RANLIB=arm-rtems7-ranlib \
		CFLAGS="-Os $(CPU) -ffunction-sections -fdata-sections $(HEADERS)" CCASFLAGS="$(CPU) $(HEADERS)"
	$(MAKE) -C $(WHERE)/newlib MATHOBJS_IN_LIBC= install
