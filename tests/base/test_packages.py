# SPDX-License-Identifier: MIT
"""Debian packages through apt: names that are wrong, a network that is not there, downloads that broke off."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from rtqual.base import apt as packages
from rtqual.base.apt import fetch, fetch_closure, known
from rtqual.base.architecture import ARM64
from rtqual.base.cache import cache_dir, sha256_file
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import PROGRAMS, TOOL_PACKAGES
from rtqual.protocols.board.system import Kernel
from support.small_disk import mounted_disk

SMALL = "rt-tests"


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rtqual"


@pytest.fixture
def no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """apt keeps what it knows of packages, but nobody answers."""
    config = tmp_path / "apt.conf"
    config.write_text(
        'Acquire::http::Proxy "http://127.0.0.1:9";\nAcquire::https::Proxy "http://127.0.0.1:9";\n'
        'Acquire::Retries "0";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(config))


def one_line(caught: pytest.ExceptionInfo[Exception]) -> str:
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["", "A", "../x", "a b", "-o=x", "x;y", "linux-image-rt-amd64=1", "é", "a\n"])
def test_what_is_not_a_package_name_never_reaches_apt(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadInput) as caught:
        fetch(name)
    assert "is not a Debian package name" in one_line(caught)


@pytest.mark.guest
def test_a_package_that_does_not_exist_is_named() -> None:
    with pytest.raises(BadInput) as caught:
        fetch("linux-image-unobtainium")
    assert "no Debian package linux-image-unobtainium is known to apt" in one_line(caught)


@pytest.mark.guest
def test_a_package_that_is_no_kernel_is_named_before_it_is_downloaded(empty_cache: Path) -> None:
    with pytest.raises(BadInput, match="candidate package bash: it is no kernel"):
        fetch("bash", kernel=True)
    assert not list(empty_cache.rglob("*.deb"))


def test_a_boot_mode_the_kernel_would_ignore_is_refused(kernel: Callable[..., Kernel]) -> None:
    if "CONFIG_PREEMPT_DYNAMIC=y" in kernel("debian-rt").config:
        pytest.skip("EVERY KERNEL HERE TAKES A BOOT MODE: Debian's real-time kernel has PREEMPT_DYNAMIC since 6.12")
    with pytest.raises(BadInput, match="candidate rt: linux-image-rt-amd64 has no PREEMPT_DYNAMIC"):
        prepare("rt", "linux-image-rt-amd64", preempt="full", boot=(), tools=[])


def test_a_metapackage_stands_for_its_kernel(kernel: Callable[..., Kernel]) -> None:
    rt = kernel("debian-rt")
    assert rt.package.startswith("linux-image-") and rt.package != "linux-image-rt-amd64"
    assert rt.release in rt.package
    assert "CONFIG_PREEMPT_RT=y" in rt.config
    assert rt.image_size_b == rt.image.stat().st_size > 5e6
    assert rt.installed_size_b > 1e8


def test_without_apt_it_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for call in (lambda: fetch(SMALL), lambda: fetch_closure([SMALL])):
        with pytest.raises(RunFailed) as caught:
            call()
        assert "apt is missing" in one_line(caught)


@pytest.mark.guest
def test_without_a_network_a_download_says_so(empty_cache: Path, no_network: None) -> None:
    for call in (lambda: fetch(SMALL), lambda: fetch_closure([SMALL])):
        with pytest.raises(RunFailed) as caught:
            call()
        assert "check the network" in one_line(caught)
        assert SMALL in str(caught.value)
    assert not list(empty_cache.glob("unpacked/*"))


def test_without_a_network_the_cache_is_enough(kernel: Callable[..., Kernel], no_network: None) -> None:
    kernel("debian-rt")
    assert {"rt-tests", "busybox-static"} <= {package.name for package in fetch_closure(TOOL_PACKAGES)}
    assert fetch("linux-image-rt-amd64", kernel=True).name == kernel("debian-rt").package


@pytest.mark.guest
def test_a_download_that_broke_off_is_made_again(empty_cache: Path) -> None:
    whole = fetch(SMALL)
    (deb,) = (empty_cache / "archives").glob("*.deb")
    deb.write_bytes(deb.read_bytes()[:1000])
    shutil.rmtree(empty_cache / "unpacked")
    again = fetch(SMALL)
    assert (again.sha256, sha256_file(deb)) == (whole.sha256, whole.sha256)
    assert (again.tree / "usr/bin/cyclictest").exists()


@pytest.mark.guest
def test_a_closure_that_broke_off_or_is_damaged_is_fetched_again(empty_cache: Path) -> None:
    names = [package.name for package in fetch_closure([SMALL])]
    assert SMALL in names and "libc6" in names
    deb = next((empty_cache / "archives").glob("rt-tests_*.deb"))
    deb.write_bytes(deb.read_bytes()[:1000])
    assert [package.name for package in fetch_closure([SMALL])] == names
    whole = deb.read_bytes()
    deb.write_bytes(b"\0" * len(whole))  # its size is right
    assert [package.name for package in fetch_closure([SMALL])] == names
    assert deb.read_bytes() == whole


@pytest.mark.guest
def test_a_full_cache_is_not_taken_for_a_lost_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    with mounted_disk(tmp_path / "disk", "160m") as disk:
        monkeypatch.setenv("XDG_CACHE_HOME", str(disk))
        known(SMALL)  # apt's own index, of which there is one for each cache
        monkeypatch.setattr(packages.shutil, "disk_usage", lambda _: usage._replace(free=10**12))  # it was free before
        with (disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(b"\0" * 4096)
        for call in (lambda: fetch(SMALL), lambda: fetch_closure([SMALL])):
            with pytest.raises(RunFailed) as caught:
                call()
            assert f"{disk / 'rtqual'} is full: make room or set XDG_CACHE_HOME" in one_line(caught)
            assert "network" not in str(caught.value)


@pytest.mark.guest
def test_a_tree_half_unpacked_when_killed_is_unpacked_again(empty_cache: Path) -> None:
    package = fetch(SMALL)
    shutil.move(package.tree, package.tree.with_suffix(".new"))
    (package.tree.with_suffix(".new") / "usr/bin/cyclictest").unlink()
    assert (fetch(SMALL).tree / "usr/bin/cyclictest").exists()


@pytest.mark.guest
def test_a_disk_too_small_for_a_download_is_told_before(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(packages.shutil, "disk_usage", lambda _: usage._replace(free=10_000))
    for call in (lambda: fetch(SMALL), lambda: fetch_closure([SMALL])):
        with pytest.raises(RunFailed) as caught:
            call()
        assert "make room or set XDG_CACHE_HOME" in one_line(caught)
    assert not list(empty_cache.rglob("*.deb"))


def test_the_guest_has_every_program_with_its_libraries(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    subprocess.run(
        ["cpio", "--extract", "--make-directories", "--quiet", "--no-absolute-filenames"],
        cwd=tmp_path,
        stdin=kernel("debian-rt").initramfs.open("rb"),
        check=True,
    )
    assert os.access(tmp_path / "init", os.X_OK)
    loader = tmp_path / "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    for program in PROGRAMS:
        asked = ["--library-path", tmp_path / "lib/x86_64-linux-gnu", "--list", tmp_path / "usr/bin" / program]
        listed = subprocess.run([loader, *asked], capture_output=True, text=True, check=True).stdout
        missing = [line for line in listed.splitlines() if "=>" in line and str(tmp_path) not in line]
        assert missing == []


def test_an_image_is_the_same_bytes_when_it_is_built_again(
    kernel: Callable[..., Kernel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kernel("debian-rt").initramfs
    (tmp_path / "rtqual").mkdir()
    for part in ("archives", "unpacked"):
        (tmp_path / "rtqual" / part).symlink_to(cache_dir() / part)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    again = prepare("x", "linux-image-rt-amd64", preempt=None, boot=(), tools=fetch_closure(TOOL_PACKAGES)).initramfs
    assert again != first
    assert again.name == first.name
    assert sha256_file(again) == sha256_file(first)


def test_the_version_that_apt_would_install_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the newest where a pin holds it back, and of two lists that have it the one with the hash of the file."""
    told = "\\n\\n".join(
        "\\n".join(("Package: x", *fields))
        for fields in (["Version: 3", "SHA256: c"], ["Version: 2"], ["Version: 2", "SHA256: b"], ["Version: 1"])
    )
    script = tmp_path / "bin/apt-cache"
    script.parent.mkdir()
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *policy*) printf "x:\\n  Candidate: 2\\n";; *) printf "{told}\\n";; esac\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    shown = packages._show("xx", packages._Apt.of(packages.AMD64))
    assert (shown["Version"], shown["SHA256"]) == ("2", "b")


def test_another_processors_lists_are_fetched_again_when_a_source_was_added(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, updates = tmp_path / "sources.list.d", []
    sources.mkdir()
    monkeypatch.setattr(packages, "_SOURCES", (tmp_path / "sources.list", sources))

    def answer(command: list[str]) -> subprocess.CompletedProcess[str]:
        if command[-1] == "update":
            updates.append(command)
            (empty_cache / "apt/arm64/lists/deb_main_Packages").touch()
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(packages, "_run", answer)
    for _ in range(2):
        packages.names("linux-image-", ARM64)
    assert len(updates) == 1, "they are kept"
    (sources / "raspi.sources").write_text("Types: deb\n")
    later_ns = (empty_cache / "apt/arm64/status").stat().st_mtime_ns + 10**9
    os.utime(sources / "raspi.sources", ns=(later_ns, later_ns))
    packages.names("linux-image-", ARM64)
    assert len(updates) == 2
