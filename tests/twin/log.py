"""A replica's log: its records, its epoch cache, its log start offset and its HW."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

UNKNOWN = -1
NOWHERE = (UNKNOWN, UNKNOWN)
BATCH = 1000
"""Serials of a batch's records begin at a multiple of it."""


class Record(NamedTuple):
    """What one offset holds. `serial` is unique among all appends, so that two replicas can be compared."""

    epoch: int
    serial: int
    producer_id: int = UNKNOWN
    marker: str | None = None


@dataclass
class Log:
    """One replica's log. Offsets that were given up (a full truncation jumps ahead) hold None."""

    log_start_offset: int = 0
    high_watermark: int = 0
    records: list[Record | None] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)

    @property
    def log_end_offset(self) -> int:
        """The offset of the next record."""
        return len(self.records)

    @property
    def latest_epoch(self) -> int:
        """The last epoch of the cache; -1 of an empty cache."""
        return self.epochs[-1][0] if self.epochs else UNKNOWN

    def assign_epoch(self, epoch: int, start: int) -> None:
        """Enter an epoch (LeaderEpochFileCache.assign): entries not below it in both columns go."""
        if self.epochs and self.epochs[-1][0] == epoch and start >= self.epochs[-1][1]:
            return
        self.epochs = [(e, s) for e, s in self.epochs if e < epoch and s < start] + [(epoch, start)]

    def end_offset_for(self, epoch: int) -> tuple[int, int]:
        """(epoch, end offset) of the greatest epoch up to the one asked for (LeaderEpochFileCache.endOffsetFor)."""
        if epoch == UNKNOWN or not self.epochs:
            return NOWHERE
        if epoch == self.latest_epoch:
            return epoch, self.log_end_offset
        higher = [(e, s) for e, s in self.epochs if e > epoch]
        if not higher:
            return NOWHERE
        floor = [e for e, _ in self.epochs if e <= epoch]
        return (floor[-1] if floor else epoch), higher[0][1]

    def append(self, records: list[Record]) -> None:
        """Append, entering each epoch that is new to the log at its first record."""
        for record in records:
            if record.epoch != self.latest_epoch:
                self.assign_epoch(record.epoch, self.log_end_offset)
            self.records.append(record)

    def read(self, offset: int, limit: int | None = None) -> list[Record]:
        """Up to `limit` records from `offset` on."""
        end = self.log_end_offset if limit is None else min(self.log_end_offset, offset + limit)
        return [record for record in self.records[offset:end] if record is not None]

    def batch_start(self, offset: int) -> int:
        """The first offset of the batch in which the log was made to start, where that is `offset`."""
        record = self.records[offset] if offset == self.log_start_offset < self.log_end_offset else None
        return offset if record is None else offset - record.serial % BATCH

    def set_follower_high_watermark(self, stated: int) -> None:
        """What the leader stated, kept between log start and LEO. It may go down."""
        self.high_watermark = min(max(stated, self.log_start_offset), self.log_end_offset)

    def truncate_to(self, target: int) -> None:
        """Cut at `target` (UnifiedLog.truncateTo): the HW never stays above the LEO."""
        cut = min(target, self.log_end_offset)
        self.epochs = [(e, s) for e, s in self.epochs if s < cut]
        self.records = self.records[:cut]
        self.log_start_offset = min(cut, self.log_start_offset)
        self.high_watermark = min(self.high_watermark, cut)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Give the whole log up: LEO, HW and log start are `offset`."""
        self.records = [None] * offset
        self.epochs = []
        self.log_start_offset = self.high_watermark = offset

    def move_log_start(self, offset: int) -> bool:
        """Forget what is below `offset`; True if that is news. The epoch in force at `offset` now starts there."""
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.high_watermark = max(self.high_watermark, offset)
        older = [e for e, s in self.epochs if s <= offset]
        self.epochs = [(e, offset) for e in older[-1:]] + [(e, s) for e, s in self.epochs if s > offset]
        return True

    def load(self, log_end_offset: int, checkpoint: int) -> None:
        """A new process: the recovered records, and the HW of the checkpoint kept between log start and LEO."""
        self.truncate_to(log_end_offset)
        self.high_watermark = min(max(checkpoint, self.log_start_offset), self.log_end_offset)

    @property
    def last_stable_offset(self) -> int:
        """The HW, or the first record of a transaction that is open or whose marker is not yet below the HW."""
        unstable: list[int] = []
        begun: dict[int, int] = {}
        for offset, record in enumerate(self.records):
            if record is None or record.producer_id == UNKNOWN:
                continue
            if record.marker is None:
                begun.setdefault(record.producer_id, offset)
                continue
            first = begun.pop(record.producer_id, offset)
            if offset >= self.high_watermark:
                unstable.append(first)
        first_unstable = max(min([*unstable, *begun.values()], default=self.high_watermark), self.log_start_offset)
        return min(first_unstable, self.high_watermark)
