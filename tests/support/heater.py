# SPDX-License-Identifier: MIT
"""What examples/heater answers, as the ground logs it, so that a judge can be tried on answers that nobody gave."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.engine.dialogue.dialogue_files import load_procedure
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.hearing import judge
from rtqual.engine.dialogue.language import Language, language_of
from rtqual.engine.dialogue.model import Dialogue
from rtqual.engine.dialogue.octets import crc16
from rtqual.engine.mission import load_mission
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.judging import Judgement

HEATER = Path(__file__).parents[2] / "examples/heater"
MISSION = HEATER / "heater.toml"
ANSWER_NS, TIME_OCTETS = 100_000, 4
Packets = Sequence[bytes | tuple[int, bytes]]  # with a delay in ns, or one behind the other


def verify_of(**changed: object) -> Verify:
    """[verify] of the example, and of its dictionary what is changed."""
    verify = load_mission(MISSION).verify
    assert verify is not None and verify.dictionary is not None
    own = {key: changed.pop(key) for key in list(changed) if key in type(verify.dictionary).model_fields}
    return verify.model_copy(update={"dictionary": verify.dictionary.model_copy(update=own), **changed})


def language(verify: Verify | None = None) -> Language:
    return language_of(verify or verify_of(), HEATER)


def procedure(folder: Path, steps: str, of: Language | None = None, head: str = 'ends = "1 s"') -> Dialogue:
    """A procedure of these steps."""
    path = folder / "made.toml"
    path.write_text(f'title = "Made"\nverifies = ["TC-010"]\n{head}\n{steps}')
    return load_procedure(path, of or language())


@dataclass
class Answered:
    """A log of a procedure in which each telecommand is answered, as it should be or otherwise."""

    procedure: Dialogue
    language: Language
    count: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)
    sends: int = 0

    def packet(self, service: int, subtype: int, data: bytes = b"") -> bytes:
        """A report as the heater makes it."""
        size = 15 + len(data) + 2
        head = (0x0800 | 42).to_bytes(2, "big") + (0xC000 | self.count % 16384).to_bytes(2, "big")
        head += (size - 7).to_bytes(2, "big") + bytes([0x20, service, subtype]) + bytes(2 + TIME_OCTETS)
        self.count += 1
        return (head + data) + crc16(head + data).to_bytes(2, "big")

    def good(self, sent: bytes) -> list[bytes]:
        """Accepted and completed; a ping gets its pong. One that is cut off gets nothing."""
        if crc16(sent):
            return []
        accepted = self.packet(1, 1, sent[:4])
        pong = [self.packet(17, 2)] if sent[7:9] == b"\x11\x01" else []
        return [accepted, *pong, self.packet(1, 7, sent[:4])]

    def log(self, first: Callable[["Answered", bytes], Packets] | None = None) -> str:
        """`first`: what comes back to what the first step sends, in place of what should."""
        lines = compiled(self.procedure, self.language)
        for number, line in enumerate(lines, 1):
            if not line.packet:
                what = f"end {self.sends} {{recvs}}" if line.text == "end" else f"did {number}"
                self.lines.append((line.at_ns, what))
                continue
            self.lines.append((line.at_ns, f"send {number} {line.packet.hex()}"))
            self.sends += 1
            own = first(self, line.packet) if first and line.step == 0 else self.good(line.packet)
            for place, each in enumerate(own, 1):
                late, packet = each if isinstance(each, tuple) else (place * ANSWER_NS, each)
                self.lines.append((line.at_ns + late, f"recv {packet.hex()}"))
        ordered = sorted(self.lines, key=lambda line: (line[0], line[1].startswith("end")))
        recvs = sum(text.startswith("recv") for _, text in ordered)
        return "0 up\n" + "".join(f"{at} {text.format(recvs=recvs)}\n" for at, text in ordered)


def judged(
    made: Dialogue,
    first: Callable[[Answered, bytes], Packets] | None = None,
    of: Language | None = None,
    ended: str = "",
) -> Judgement:
    """What the judge says of a procedure whose first step's telecommand is answered like this."""
    spoken = of or language()
    return judge(made, compiled(made, spoken), Answered(made, spoken).log(first), spoken, ended)
