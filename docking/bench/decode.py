# SPDX-License-Identifier: MIT
"""Instructions that decoding a frame takes, by scene and by way, beside the published pipeline's.

Counted by callgrind in user space, so the figures do not depend on this machine's load, and every run repeats. The
scenes are the emulator's: its target at a distance before nothing, and before a wall that fills the picture. The
published pipeline is the rebuilt one, whose output equals the original's byte for byte (docs/docking/lidar.md).
"""

import subprocess
import tempfile
from pathlib import Path

from rtqual.engine.initramfs.contents import guest_file
from support.flight_programs import instructions_a_frame, program

FRAMES = 4
SCENES = {
    "1.2 m": ["--at=0 0 0 1.2 0 0 0"],
    "0.6 m": ["--at=0 0 0 0.6 0 0 0"],
    "0.3 m": ["--at=0 0 0 0.3 0 0 0"],
    "wall": ["--at=0 0 0 0.6 0 0 0", "--wall=0.9"],
}
WAYS = ("baseline", "scalar", "sse2", "avx2")


def main() -> None:
    print("Instructions a frame, by way to decode (one count each: nothing in it is random):")
    print(" " * 10 + "".join(f"{scene:>12}" for scene in SCENES))
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            counts = [counted(way, Path(folder) / "frames", options) for options in SCENES.values()]
            print(f"{way:10}" + "".join(f"{count:12,}" for count in counts))


def counted(way: str, frames: Path, scene: list[str]) -> int:
    subprocess.run([guest_file("ds325-emulator"), f"--frames={FRAMES}", f"--write={frames}", *scene], check=True)
    return instructions_a_frame([program("flight_frames"), frames, "{}", way], frames=FRAMES)


if __name__ == "__main__":
    main()
