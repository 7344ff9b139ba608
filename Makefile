# SPDX-License-Identifier: MIT
# make demo        install what is missing, then choose a kernel for docking/missions/docking.toml
# make check       style, types and the quick tests, in a minute; after each edit; ONLY="engine/analysis": those tests alone
# make unit        the tests that start no process; make coverage: how much of the sources the quick tests run
# make test        style, types and the tests; make test-full: the slow proofs; make test-manual: the slowest
# make             install only: rtqual is then .venv/bin/rtqual, of the sources as they stand
# make arm         what the virtual ARM board and FreeRTOS need besides (docs/freertos.md)
# make tailor      cut a kernel down to docking/missions/docking.toml and measure it; make tailor-arm64: the Raspberry Pi's
# make stepwise    the same one group of the removal list at a time: what each gained; an hour or two
# make board-demo  measure two kernels on a stand-in for a board, over ssh (docs/boards.md)
# make soak [HOURS=4]     four hours of the virtual board's clock under telecommands: many hours of CPU (docs/verify.md)
# make image-packages   what `rtqual image` makes system images with (docs/image.md)
# make ground-packages  what starts Yamcs, the flight program's ground (docs/docking/ground.md)
# make xenomai [ARCH=arm64] COBALT=FOLDER EVL=FOLDER PROGRAMS=FOLDER   measure Xenomai's cores (docs/xenomai.md)
# make one-board IMAGES="FILE ..."   FreeRTOS, Linux and any images that you linked, side by side (docs/systems.md)
# make bench       measured here: booting, restoring, a cell, beside doing it by hand; records of 10^8 samples beside other tools (8 minutes)
# make fuzz        a million inputs for the parsers in C, with sanitizers; 5 minutes of CPU (docs/verification/attacks.md)
# make newest      the tests with the newest Python libraries in place of the locked ones; make lock: lock the newest
# make docs        the documentation as a site, in out/docs
# make dist        an sdist and the wheel made of it, in dist/, to install anywhere; make dist-aarch64: one for 64-bit ARM too; make man: the man page and the mission's keys anew; make picture: the README's and docs/report.md's
# make lint        style and types; make clean: remove what make built (records in out/ stay)

# Shells and PATH take these signs for something else.
SIGNS := $(strip $(foreach sign,: ' " $$ ` \,$(findstring $(sign),$(CURDIR))))
$(if $(SIGNS),$(error The folder $(CURDIR) has $(SIGNS) in its name, which PATH or a shell takes for something else: move it))

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests call make themselves: they are no jobs of this one.
PYTEST := env -u MAKEFLAGS -u MFLAGS $(BIN)/pytest -n 2 --dist loadfile

# The virtual board (QEMU; the image's tools), this machine's instruments and loads, the C compiler for the guest's
# agent and, with musl, for the probe, and what WeasyPrint draws the PDF with. Keep in step with
# src/rtqual/stages/doctor/tools.py; a test compares them.
PACKAGES := qemu-system-x86 cpio kmod e2fsprogs util-linux dpkg apt rt-tests sysbench stress-ng gcc libc6-dev make \
	musl-tools libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core openssh-client
# The virtual ARM board, what runs in its guests, the compiler of FreeRTOS's image and the cargo that fetches its kernel
# (Debian 12's `cargo` is too old to): 1 GB that the demo does without.
ARM_PACKAGES := qemu-system-arm gcc-arm-linux-gnueabihf libc6-dev-armhf-cross make gcc-arm-none-eabi \
	libnewlib-arm-none-eabi "cargo-web|cargo"
# What a Linux kernel is built with (rtqual tailor; docs/tailor.md).
KERNEL_PACKAGES := gcc libc6-dev make bc bison flex libelf-dev libssl-dev ccache patch xz-utils zstd
# What system images are put together with, and the compiler of our programs in those for arm64 (docs/image.md).
IMAGE_PACKAGES := mmdebstrap mtools dosfstools fdisk gcc-aarch64-linux-gnu libc6-dev-arm64-cross
# What fetches and runs Yamcs (docs/docking/ground.md).
GROUND_PACKAGES := maven default-jre-headless
# The tests read the PDF, open the report in a browser, ask every real program for its version, watch the probe's
# system calls, count the camera library's instructions, run its ARM builds, build OpenNI2's driver and sample, read
# traces back, assemble ARM's instructions, talk to a CI server, lay files out as an image does, and build a small kernel.
TEST_PACKAGES := poppler-utils curl jq iw iperf3 strace chromium chromium-driver valgrind qemu-user g++ babeltrace2 \
	mtools dosfstools fdisk binutils-aarch64-linux-gnu binutils-arm-linux-gnueabihf $(KERNEL_PACKAGES)
# What the slow proofs check the PDF (veraPDF) and the page (axe) with. The nodejs of others brings npm, and conflicts with
# Debian's.
FULL_PACKAGES := $(GROUND_PACKAGES) $(if $(shell command -v npm),,npm)
# Debian's Python comes without venv; another one brings its own.
ifeq ($(filter-out /usr/bin/%,$(shell command -v $(PYTHON) 2>/dev/null)),)
PACKAGES += python3-venv
endif

# The folder that meson builds in is kept, so a change of a C file builds what is made of it and no more.
BUILD := $(VENV)/build
C_SOURCES := meson.build meson.options \
	$(shell find target docking -type f -not -name '*.py' -not -path '*/__pycache__/*' -not -path '*/build*/*')
# Meson is found through PATH; building without isolation downloads nothing once the environment stands.
MESON := PATH="$(CURDIR)/$(BIN):$$PATH"
PIP := $(BIN)/pip install --disable-pip-version-check
STEP := tools/step
# Of what others wrote, only what tools/lock/ names by its hash; our own comes without its libraries. uv takes 4 s where pip
# takes 78, and pip takes over where uv cannot (it does not read pip's settings). Both take a library that an interrupted
# make left in pieces for a whole one: .changing tells the next make to install all anew.
LOCKED = again=$$([ ! -e $(VENV)/.changing ] || echo --force-reinstall); touch $(VENV)/.changing; \
	$(STEP) --download "$(2)" sh -c '$(PIP) '$$again' --quiet --require-hashes -r tools/lock/uv.txt && \
	$(BIN)/uv pip install '$$again' --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r $(1) || \
	$(PIP) '$$again' --require-hashes -r $(1)' && rm $(VENV)/.changing
# Each key once: pip before 23.1, as Debian 12's, keeps only the last of equal ones.
PIP_OWN := @$(MESON) $(STEP) "rtqual, its programs compiled" $(PIP) --no-build-isolation --no-deps \
	--config-settings=build-dir=$(BUILD) "--config-settings=setup-args=--native-file=$(CURDIR)/tools/develop.ini"

# Half of a test run's start is compiling Python where nobody keeps the bytecode.
unexport PYTHONDONTWRITEBYTECODE
# What is built and where it goes is decided here: records name programs by their hashes.
unexport CFLAGS CPPFLAGS CXXFLAGS LDFLAGS DESTDIR PIP_USER PIP_TARGET PIP_PREFIX PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := install
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: install docs demo soak board-demo check unit quick coverage guests slow test test-full test-manual newest lock arm bench fuzz fuzz-dictionaries lint dist dist-aarch64 man picture clean packages test-packages full-packages arm-packages kernel-packages image-packages ground-packages \
	tailor tailor-arm64 stepwise xenomai one-board

install: packages $(VENV)/.built
	@echo "Ready: $(BIN)/rtqual doctor"

demo: packages $(VENV)/.built
	tools/with-realtime $(BIN)/rtqual select docking/missions/docking.toml

# Segments that were played are kept: the same command goes on.
soak: packages $(VENV)/.built
	tools/with-realtime $(BIN)/rtqual verify docking/missions/docking.toml --hours $(or $(HOURS),4)

board-demo: packages image-packages $(VENV)/.built
	PYTHONPATH=tests $(BIN)/python -m support.stand_in

# Of kernels and programs that were built elsewhere: their folders stand where the mission looks for them.
BUILT := COBALT EVL PROGRAMS
ON_ARM64 := $(filter arm64,$(ARCH))
DUAL_AT := out/dual-kernel-built$(if $(ON_ARM64),/arm64)
xenomai:
	@$(foreach folder,$(BUILT),test -d "$($(folder))" || { echo "make xenomai: $(folder)='$($(folder))' is no folder: \
	give the folders of built kernels and programs, COBALT, EVL and PROGRAMS (docs/xenomai.md)" >&2; exit 2; };)
	$(MAKE) --no-print-directory $(if $(ON_ARM64),arm,install)
	@mkdir -p $(DUAL_AT); $(foreach folder,$(BUILT),ln -sfn "$$(realpath '$($(folder))')" \
	$(DUAL_AT)/$(shell echo $(folder) | tr A-Z a-z);)
	tools/with-realtime $(BIN)/rtqual select missions/dual-kernel.toml --scale $(if $(ON_ARM64),arm64,demo)

# Not built here: the files that systems were linked into.
one-board:
	@for one in $(IMAGES); do test -f "$$one" || { echo "make one-board: IMAGES: '$$one' is no file: give those that \
	systems were linked into with rtqual's probe (docs/port.md)" >&2; exit 2; }; done
	$(MAKE) --no-print-directory arm
	@mkdir -p out; tools/one-board $(IMAGES) > out/one-board.toml
	$(BIN)/rtqual select out/one-board.toml --out out/one-board-demo

tailor: packages kernel-packages $(VENV)/.built
	$(BIN)/rtqual tailor docking/missions/docking.toml

tailor-arm64: kernel-packages image-packages arm
	$(BIN)/rtqual tailor docking/missions/docking-arm64.toml

stepwise: packages kernel-packages $(VENV)/.built
	$(BIN)/rtqual tailor docking/missions/docking.toml --stepwise

# What needs neither a guest, nor Debian's packages, nor a network, nor long: two tests at a time.
check: $(VENV)/.dev $(VENV)/.built
	@$(MAKE) -k -j2 --no-print-directory lint quick

quick: $(VENV)/.built
	$(PYTEST) -q -m "not guest and not full and not manual" $(ONLY:%=tests/%)

# Tests that start no process: the first to run anywhere.
unit: $(VENV)/.dev $(VENV)/.built
	$(PYTEST) -q -m unit $(ONLY:%=tests/%)

# How much of the sources the quick tests run; guests' tests run more of them.
coverage: $(VENV)/.dev $(VENV)/.built
	$(PYTEST) -q -m "not guest and not full and not manual" --cov=rtqual --cov=rtqual_docking \
		--cov-report=term:skip-covered $(ONLY:%=tests/%)

guests: $(VENV)/.built
	$(PYTEST) -m "guest and not full and not manual"

# FULL="FILE...": these files' alone.
slow: $(VENV)/.built
	$(PYTEST) -m "full and not manual" $(FULL)

# Each lane runs, whatever became of those before.
test: test-packages $(VENV)/.dev $(VENV)/.built
	@tools/lanes lint quick guests

test-full: test-packages full-packages $(VENV)/.dev $(VENV)/.built $(VENV)/.opencv
	@tools/lanes slow

# What takes too long for every change; the figures of the last time stand in the docs.
test-manual: test-packages ground-packages $(VENV)/.dev $(VENV)/.built $(VENV)/.opencv
	$(BIN)/pytest -m manual

# The next make goes back to the locked ones: their stamps go before anything changes. A line with $(MAKE) runs under
# make -n too, so nothing else stands on it.
newest: $(VENV)/.dev $(VENV)/.built
	rm -f $(VENV)/.installed $(VENV)/.dev
	$(PIP) --upgrade --upgrade-strategy eager $$($(BIN)/python tools/requirements analysis report dev)
	$(MAKE) -j2 -o $(VENV)/.dev -o $(VENV)/.installed lint quick

# Run the tests on what it locks.
UV_COMPILE := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links
lock: $(VENV)/.created
	$(PIP) --upgrade uv
	echo uv > $(VENV)/uv.in
	echo opencv-python-headless > $(VENV)/opencv.in
	$(BIN)/python tools/requirements analysis report > $(VENV)/demo.in
	$(BIN)/python tools/requirements analysis report dev > $(VENV)/dev.in
	for set in uv demo dev opencv; do case $$set in uv|demo) with=;; *) with='-c tools/lock/demo.txt';; esac; \
		$(UV_COMPILE) $(VENV)/$$set.in $$with \
		-o $(VENV)/$$set.txt && { echo "# SPDX-License-Identifier: MIT"; echo "# Made by make lock."; \
		cat $(VENV)/$$set.txt; } > tools/lock/$$set.txt || exit; done

arm: arm-packages
	@$(MAKE) --no-print-directory install

bench: packages $(VENV)/.built
	$(BIN)/python bench/commands.py
	$(BIN)/python bench/boot_once.py
	$(BIN)/python bench/explain.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/wakeup.py
	PYTHONPATH=tests $(BIN)/python bench/lab.py
	PYTHONPATH=tests $(BIN)/python docking/bench/decode.py
	PYTHONPATH=tests $(BIN)/python docking/bench/camera.py
	PYTHONPATH=tests $(BIN)/python docking/bench/pose_grid.py --flights 120 --frames 20

# The documentation as a site; its tools stay out of the environment.
docs: $(VENV)/.dev
	$(BIN)/uv tool run --with "mkdocs<2" --with "mkdocs-material>=9.7,<10" mkdocs build --strict --quiet
	@echo "out/docs/index.html"

# Prints the table of docs/verification/attacks.md.
fuzz: $(VENV)/.dev $(VENV)/.built
	$(BIN)/python tests/support/c_fuzzers.py

# A hundred thousand changed dictionaries of each format, a million changed streams of each framing.
fuzz-dictionaries: $(VENV)/.dev
	$(BIN)/pytest -q -s -m manual tests/parts/dictionaries/test_dictionary_fuzz.py tests/engine/dialogue/test_framing.py

lint: $(VENV)/.dev
	$(BIN)/ruff check src docking tests bench
	$(BIN)/ruff format --check src docking tests bench
	$(BIN)/mypy
	$(BIN)/mypy --config-file tools/mypy-tests.ini
	$(BIN)/lint-imports --no-logo
	files=$$(git ls-files "*.c" "*.h" "*.cpp") && $(BIN)/clang-format --dry-run -Werror $$files

# From what is committed. The wheel is built of the sdist alone, so that either can be handed on.
dist: packages $(VENV)/.installed
	rm -rf dist
	$(MESON) $(BIN)/python -c 'import mesonpy; mesonpy.build_sdist("dist")'
	$(MESON) $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir dist dist/rtqual-*.tar.gz
	@$(BIN)/python tools/wheel-tag dist/rtqual-*.whl linux_$$(uname -m)
	@ls dist/*

# For 64-bit ARM, beside it. Its own programs are cross-compiled, those of x86-64 guests are not.
dist-aarch64: image-packages dist
	$(MESON) _PYTHON_HOST_PLATFORM=linux-aarch64 $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --no-index \
		--wheel-dir dist --config-settings=setup-args=--cross-file=$(CURDIR)/tools/aarch64.ini dist/rtqual-*.tar.gz
	@$(BIN)/python tools/wheel-tag dist/rtqual-*-linux_aarch64.whl linux_aarch64
	@ls dist/*

# Of the demo's report, which must be there.
picture: test-packages $(VENV)/.dev
	$(BIN)/python tools/readme-picture

man: $(VENV)/.installed
	$(BIN)/python tools/man-page > docs/rtqual.1
	$(BIN)/python tools/mission-keys > docs/reference/mission.md

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src docking tests \( -name __pycache__ -o -type l \) -prune -exec rm -rf {} +

packages:
	@tools/debian-packages $(PACKAGES)

full-packages:
	@tools/debian-packages $(FULL_PACKAGES)

test-packages:
	@tools/debian-packages $(TEST_PACKAGES) $(ARM_PACKAGES) $(IMAGE_PACKAGES)

image-packages:
	@tools/debian-packages $(IMAGE_PACKAGES)

kernel-packages:
	@tools/debian-packages $(KERNEL_PACKAGES)

ground-packages:
	@tools/debian-packages $(GROUND_PACKAGES)

arm-packages:
	@tools/debian-packages $(ARM_PACKAGES)

# The stamps lie in the environment, so they go with it. It works where it was made, with the Python that it was made with:
# a checkout that was moved or copied, or another Python after an upgrade, begins anew.
$(VENV)/.created: FORCE
	@stands() { echo "$(CURDIR)" && $(BIN)/python -c 'import pip, sys; print(*sys.version_info[:2])' 2> /dev/null; }; \
	[ "$$(stands)" = "$$(cat $@ 2> /dev/null)" ] || { \
	tools/debian-packages $(PACKAGES) && \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rtqual needs Python 3.11 or newer, $(PYTHON) is " \
		+ sys.version.split()[0] + ": make PYTHON=/usr/bin/python3")' && \
	$(STEP) "Python environment" $(PYTHON) -m venv --clear $(VENV) && stands > $@; }

# What is installed anew takes the programs of `.built` with it.
$(VENV)/.installed: $(VENV)/.created pyproject.toml tools/lock/demo.txt | $(VENV)/.compilers
	@rm -f $@ $(VENV)/.built
	@$(call LOCKED,tools/lock/demo.txt,Python libraries)
	$(PIP_OWN) .
	@touch $@

$(VENV)/.dev: $(VENV)/.created pyproject.toml tools/lock/dev.txt
	@tools/debian-packages $(TEST_PACKAGES)
	@rm -f $@ $(VENV)/.installed $(VENV)/.built
	@$(call LOCKED,tools/lock/dev.txt,Python libraries of the tests)
	$(PIP_OWN) .
	@touch $(VENV)/.installed $@

# What the camera and its poses are compared with. Where it cannot be had, its tests are skipped and say so.
$(VENV)/.opencv: $(VENV)/.created tools/lock/opencv.txt
	@$(call LOCKED,tools/lock/opencv.txt,OpenCV) && touch $@ || echo 'make: no OpenCV could be installed: its tests are skipped' >&2

# Which of the compilers that meson.build looks for are here; changes when one comes or goes, whoever installed it.
COMPILERS := cc musl-gcc arm-linux-gnueabihf-gcc aarch64-linux-gnu-gcc
$(VENV)/.compilers: $(VENV)/.created FORCE
	@for compiler in $(COMPILERS); do command -v $$compiler; done > $@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
FORCE:

# Programs and the sources that rtqual carries: into the environment anew, where nothing that was removed stays. Links
# beside the Python sources lead there.
$(VENV)/.built: $(VENV)/.installed $(VENV)/.compilers $(C_SOURCES)
	@$(MESON) $(STEP) "Programs in C" sh -c '{ [ $(BUILD)/build.ninja -nt $(VENV)/.compilers ] || \
	meson setup --reconfigure $(BUILD); } && ninja -C $(BUILD) --quiet'
	@rm -rf $(VENV)/lib/python3*/site-packages/rtqual
	@$(MESON) $(STEP) "Programs into the environment" meson install -C $(BUILD) --no-rebuild --quiet
	@find src/rtqual -maxdepth 1 -type l -delete
	@cd src/rtqual && ln -s ../../$(VENV)/lib/python3*/site-packages/rtqual/* .
	@touch $@
