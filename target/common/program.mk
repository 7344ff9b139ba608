# SPDX-License-Identifier: MIT
# How our programs are built: each file apart, since some need flags of their own, and only what has changed. A Makefile
# says which programs there are, of which sources (from the top), and asks for $(call program,NAME,SOURCES).
#
#   NAME          static with musl          NAME-arm64 NAME-armhf   static, with Debian's cross compilers
#   NAME-asan     with sanitizers           NAME-tsan               with the one for threads
#
# $(call program,NAME,SOURCES,host) is one for tests: NAME is built with this machine's compiler.
# Files appear whole, since two may build at the same time. All go to $(BUILD).
ROOT := $(dir $(lastword $(MAKEFILE_LIST)))../../
BUILD ?= build
# A space parts words in make, and a user's folder may have one: then the path from here, and the last name of this folder.
override BUILD := $(if $(word 2,$(BUILD)),$(shell realpath -m --relative-to=. '$(BUILD)'),$(BUILD))
VERSION ?= $(shell sed -n "/^project/s/.*version: '\([^']*\)'.*/\1/p" $(ROOT)meson.build)
MACHINE := $(shell $(CC) -dumpmachine)
OBJECTS := $(BUILD)/objects/$(lastword $(subst /, ,$(CURDIR)))
comma := ,

DECODE := $(addprefix docking/camera/ds325/,decode.c calibrate.c decode_sse2.c decode_avx2.c decode_neon.c)
POSE := $(patsubst $(ROOT)%,%,$(filter-out %/main.c,$(wildcard $(ROOT)docking/flight/pose/*.c)))
COMMAND_LINE := target/common/options.c target/common/command_line.c
OPEN_FILE := target/common/open_file.c

FLAGS += -O2 -Wall -Wextra -Werror -I$(ROOT)docking -I$(ROOT)docking/camera -I$(ROOT)target -DVERSION='"$(VERSION)"'
STATIC := $(LTO) -static -s -ffunction-sections -Wl,--gc-sections
CHECKED := -g -O1 -fno-sanitize-recover=all
ASAN := $(CHECKED) -fsanitize=address$(comma)undefined
TSAN := $(CHECKED) -fsanitize=thread -Wno-tsan $(TSAN_FLAGS)
# The kernel's own headers, which musl does not bring: after its own, so that nothing of glibc is found first.
MUSL := $(STATIC) -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu
# -O3 takes a sixth off an update of the pose's instructions, in the files that look at each pixel; nothing there looks at
# errno or at traps.
ONCE := pose.c find.c ring.c # a frame, or while nothing is tracked
own = $(if $(findstring _avx2.c,$<),-mavx2) $(if $(findstring /pose/,$<),$(if $(filter $(ONCE),$(notdir $<)),,-O3) -fno-math-errno -fno-trapping-math)
compiler = $(if $(filter %.cpp,$<),$(CXX) -std=c++17 -Wno-missing-field-initializers,$(1) -std=gnu11)

# Sources that a machine has instructions for. $(1) the machine, $(2) sources
x86_only := %_sse2.c %_avx2.c
sources_for = $(filter-out $(if $(filter x86_64%,$(1)),,$(x86_only)) $(if $(filter aarch64%,$(1)),,%_neon.c),$(2))

# $(1) folder of objects, $(2) compiler, $(3) flags
define objects
$(OBJECTS)/$(1)/%.o: $(ROOT)% $(MAKEFILE_LIST) $(ROOT)meson.build
	@mkdir -p $$(@D) && new=$$@.$$$$$$$$ && $$(call compiler,$(2)) $(FLAGS) $(3) $$(own) -MMD -MP -MT $$@ -MF $$$$new.d \
		-c $$< -o $$$$new && mv $$$$new.d $$@.d && mv $$$$new $$@
endef
# $(1) program, $(2) folder of objects, $(3) compiler and flags, $(4) sources
define linked
$(BUILD)/$(1): $(patsubst %,$(OBJECTS)/$(2)/%.o,$(4))
	@mkdir -p $$(@D) && $(3) $$^ -o $$@.$$$$$$$$ -lm && mv $$@.$$$$$$$$ $$@
endef
define program
$(if $(3),$(call linked,$(1),host,$(CC) -pthread,$(call sources_for,$(MACHINE),$(2))),$(call \
	linked,$(1),x86_64,musl-gcc $(FLAGS) $(STATIC),$(call sources_for,x86_64,$(2))))
$(call linked,$(1)-arm64,arm64,aarch64-linux-gnu-gcc $(FLAGS) $(STATIC),$(call sources_for,aarch64,$(2)))
$(call linked,$(1)-armhf,armhf,arm-linux-gnueabihf-gcc $(FLAGS) $(STATIC),$(call sources_for,arm,$(2)))
$(call linked,$(1)-asan,asan,$(CC) $(ASAN) -pthread,$(call sources_for,$(MACHINE),$(2)))
$(call linked,$(1)-tsan,tsan,$(CC) $(TSAN) -pthread,$(call sources_for,$(MACHINE),$(2)))
endef
$(eval $(call objects,x86_64,musl-gcc,$(MUSL)))
$(eval $(call objects,arm64,aarch64-linux-gnu-gcc,$(STATIC)))
$(eval $(call objects,armhf,arm-linux-gnueabihf-gcc,$(STATIC)))
$(eval $(call objects,host,$(CC),-pthread))
$(eval $(call objects,asan,$(CC),$(ASAN) -pthread))
$(eval $(call objects,tsan,$(CC),$(TSAN) -pthread))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: x86_64 arm64 armhf asan tsan
-include $(shell find $(OBJECTS) -name '*.o.d' 2>/dev/null)
