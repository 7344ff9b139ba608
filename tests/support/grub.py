# SPDX-License-Identifier: MIT
"""GRUB's configuration and a disk of the stand-in that GRUB starts."""

from pathlib import Path

from rtqual.base.apt import fetch, fetch_closure
from support.known_good import good_initrd, own
from support.stand_in import KERNELS, OPTIONS, write_disk

# As grub-mkconfig writes it, as far as it matters here.
_CFG = """\
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${{next_entry}}" ] ; then
   set default="${{next_entry}}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="0"
fi
menuentry 'Debian' {{
  linux /good/vmlinuz {options}
  initrd /good/initrd
}}
if [ -f  ${{config_directory}}/custom.cfg ]; then
  source ${{config_directory}}/custom.cfg
elif [ -z "${{config_directory}}" -a -f  $prefix/custom.cfg ]; then
  source $prefix/custom.cfg
fi
"""
GRUB_CFG = _CFG.format(options=OPTIONS)


def grub_disk(folder: Path) -> str:
    """GRUB from its package, its folder on the FAT partition; the known-good system has grub-editenv besides."""
    package = fetch(KERNELS["stock"], kernel=True)
    image = next((package.tree / "boot").glob("vmlinuz-*"))
    release = image.name.removeprefix("vmlinuz-")
    closure = [one.tree for one in fetch_closure(["grub-common"])]
    initrd = good_initrd(folder, package.tree, release, ("grub-editenv", closure))
    loader = fetch("grub-efi-amd64-bin").tree / "usr/lib/grub/x86_64-efi/monolithic/grubx64.efi"
    first = "set prefix=($root)/grub\nconfigfile $prefix/grub.cfg\n"
    head = "# GRUB Environment Block\n"
    texts = {
        "EFI/debian/grub.cfg": first,
        "grub/grub.cfg": f"set timeout=0\n{GRUB_CFG}",
        "grub/grubenv": head.ljust(1024, "#"),
        **own(folder),
    }
    write_disk(folder, texts, {"EFI/BOOT/BOOTX64.EFI": loader, "good/vmlinuz": image, "good/initrd": initrd})
    return release
