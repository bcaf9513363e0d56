"""The same events in transactions: what holds the last stable offset is one more thing to work out."""

from __future__ import annotations

from pyspark.sql import functions as F

from jobs.warehouse import Warehouse
from schemas import columns as C
from schemas.tables import PRODUCE_EVENTS

_PRODUCERS, _BATCHES = 50, 10
"""Of a partition, and of a transaction, its marker among them."""


def put_in_transactions(warehouse: Warehouse) -> None:
    """Make every append that is landed one of a transaction: drawn by its offset whose it is, and which are markers."""

    def drawn(out_of: int, seed: int) -> str:
        return f"pmod(xxhash64({C.PARTITION}, {C.BASE_OFFSET}, {seed}), {out_of})"

    warehouse.place.stored(PRODUCE_EVENTS).update(
        f"NOT {C.IS_TRANSACTIONAL}",
        {  # Delta wants plain text
            str(C.IS_TRANSACTIONAL): F.lit(True),
            str(C.PRODUCER_ID): F.expr(drawn(_PRODUCERS, 1)),
            str(C.IS_CONTROL): F.expr(f"{drawn(_BATCHES, 2)} = 0"),
        },
    )
