# SPDX-License-Identifier: MIT
"""The receiving end of CFDP as cfdp-py has it: PDUs in, PDUs out. Its timers are short and without a limit, so
that a busy machine only makes it slower."""

from pathlib import Path

from cfdppy.handler.dest import DestHandler
from cfdppy.mib import (
    CheckTimerProvider,
    DefaultFaultHandlerBase,
    EntityType,
    IndicationConfig,
    LocalEntityConfig,
    RemoteEntityConfig,
    RemoteEntityConfigTable,
)
from cfdppy.restricted_filestore import RestrictedFilestore
from cfdppy.user import (
    CfdpUserBase,
    FileSegmentRecvdParams,
    MetadataRecvParams,
    TransactionFinishedParams,
)
from spacepackets.cfdp import ChecksumType, ConditionCode, TransactionId, TransmissionMode
from spacepackets.cfdp.pdu.helper import PduFactory
from spacepackets.countdown import Countdown
from spacepackets.util import ByteFieldU8, UnsignedByteField

BOARD, GROUND = 1, 2  # docking/flight/program/cfdp.h
_AGAIN_S, _LIMIT = 0.05, 100_000


class _Faults(DefaultFaultHandlerBase):
    def notice_of_suspension_cb(self, transaction_id: TransactionId, cond: ConditionCode, progress: int) -> None: ...
    def notice_of_cancellation_cb(self, transaction_id: TransactionId, cond: ConditionCode, progress: int) -> None: ...
    def abandoned_cb(self, transaction_id: TransactionId, cond: ConditionCode, progress: int) -> None: ...
    def ignore_cb(self, transaction_id: TransactionId, cond: ConditionCode, progress: int) -> None: ...


class _Timers(CheckTimerProvider):
    def provide_check_timer(
        self,
        local_entity_id: UnsignedByteField,  # noqa: ARG002
        remote_entity_id: UnsignedByteField,  # noqa: ARG002
        entity_type: EntityType,  # noqa: ARG002
    ) -> Countdown:
        return Countdown.from_seconds(_AGAIN_S)


class Receiver(CfdpUserBase):
    """`finished`: what the receiver says at the end."""

    def __init__(self, folder: Path) -> None:
        super().__init__(RestrictedFilestore(folder))
        self.finished: TransactionFinishedParams | None = None
        remote = RemoteEntityConfig(
            entity_id=ByteFieldU8(BOARD),
            max_file_segment_len=None,
            max_packet_len=1000,
            closure_requested=False,
            crc_on_transmission=False,
            default_transmission_mode=TransmissionMode.ACKNOWLEDGED,
            crc_type=ChecksumType.CRC_32,
            positive_ack_timer_interval_seconds=_AGAIN_S,
            positive_ack_timer_expiration_limit=_LIMIT,
            check_limit=_LIMIT,
            nak_timer_interval_seconds=_AGAIN_S,
            nak_timer_expiration_limit=_LIMIT,
        )
        local = LocalEntityConfig(ByteFieldU8(GROUND), IndicationConfig(), _Faults())
        self._handler = DestHandler(local, self, RemoteEntityConfigTable([remote]), _Timers())

    def take(self, pdu: bytes | None = None) -> list[bytes]:
        """Its answers."""
        self._handler.state_machine(PduFactory.from_raw(pdu) if pdu else None)
        found = []
        while (answer := self._handler.get_next_packet()) is not None:
            found.append(bytes(answer.pack()))
        return found

    def transaction_finished_indication(self, params: TransactionFinishedParams) -> None:
        self.finished = params

    def transaction_indication(self, transaction_indication_params: object) -> None: ...
    def eof_sent_indication(self, transaction_id: TransactionId) -> None: ...
    def metadata_recv_indication(self, params: MetadataRecvParams) -> None: ...
    def file_segment_recv_indication(self, params: FileSegmentRecvdParams) -> None: ...
    def report_indication(self, transaction_id: TransactionId, status_report: object) -> None: ...
    def suspended_indication(self, transaction_id: TransactionId, cond_code: ConditionCode) -> None: ...
    def resumed_indication(self, transaction_id: TransactionId, progress: int) -> None: ...
    def fault_indication(self, transaction_id: TransactionId, cond_code: ConditionCode, progress: int) -> None: ...
    def abandoned_indication(self, transaction_id: TransactionId, cond_code: ConditionCode, progress: int) -> None: ...
    def eof_recv_indication(self, transaction_id: TransactionId) -> None: ...
