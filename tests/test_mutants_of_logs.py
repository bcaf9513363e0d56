"""Mutants of what a log is: where it starts, whose records it has, how far it is stable, and where it was cut.

Each must be told from the right one by the story that is about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from replay import in_sync
from replay.events import batch_starts, responses, told_by_roles
from replay.order import throughout
from replay.states import lineage, log_starts, own_states, stable, stated_cuts
from tests.mutants import Mutant
from tests.story import SCENARIOS, Story, load
from tests.told import Told, cuts_not_made, disputes, retold
from tests.twin.histories import combined

pytestmark = [pytest.mark.spark, pytest.mark.long]

MUTANTS: dict[str, tuple[Mutant, ...]] = {
    "a_log_given_up_knows_no_transaction_below": (
        Mutant(stable.transactions, "< F.col(UNTIL)) & is_kept", "< F.col(UNTIL))", "a new log is the old one"),
    ),
    "a_log_given_up_has_the_rest_of_a_transaction": (
        Mutant(stable._with_piece, 'F.when(F.size("begun") == 0, 0).otherwise(below)', "F.lit(0)",
               "a transaction is all there or not at all"),
    ),
    "lso_of_a_transaction_that_was_lost_later": (
        Mutant(stable.transactions, "(F.coalesce(FIRST_OFFSET, _MARKER) < F.col(UNTIL)) & ", "",
               "what was lost later is in every log"),
    ),
    "lso_of_a_marker_that_was_lost_later": (
        Mutant(stable.transactions, "F.when(F.col(_MARKER) < F.col(UNTIL), F.col(_MARKER))", "F.col(_MARKER)",
               "a marker that was lost ends its transaction"),
    ),
    "lso_is_floored_at_the_log_start": (
        Mutant(stable.with_last_stable_offset, 'F.greatest(F.coalesce("told", hw), C.LOG_START_OFFSET)',
               'F.coalesce("told", hw)', "the LSO is below the log start"),
    ),
    "lso_at_a_new_leader": (
        Mutant(lineage._with_next, "F.concat(held, own)", "own", "a log holds nothing of its parent's"),
    ),
    "kafka_2_8_0_a_diverging_fetch_brings_no_records": (
        Mutant(lineage._contacts, "~F.coalesce(diverges, F.lit(False))", "F.lit(True)",
               "who asked has the log of whom it asked"),
    ),
    "a_late_follower_tells_in_the_next_epoch_what_came": (
        Mutant(told_by_roles.told_next, '(by_clocks | (keeps_all & (asked < role["leo"])))', "by_clocks",
               "two clocks alone tell that a follower was told late"),
    ),
    "a_follower_hw_is_not_below_its_log_start": (
        Mutant(responses.hw_taken, "F.greatest(up_to_leo, N.OWN_LOG_START)", "up_to_leo",
               "a HW is below its log's start"),
    ),
    "a_log_given_up_starts_with_its_hw": (
        Mutant(responses.hw_of_empty, "F.when(~is_event(N.RESPONSE) & is_empty", "F.when(F.lit(False)", "no HW"),
    ),
    "a_deleted_log_begins_at_0_again": (
        Mutant(log_starts.with_told_log_start, "is_of(S.TRUNCATED_FULLY_AT) | is_deleted",
               "is_of(S.TRUNCATED_FULLY_AT)", "a new log starts where the old one did"),
    ),
    "a_batch_that_was_cut_holds_no_log_start": (
        Mutant(batch_starts.batch_starts, 'of_epoch, "left")', "of_epoch)", "a batch that was cut is there"),
    ),
    "a_log_begun_within_a_batch_of_a_transaction_has_all_of_it": (
        Mutant(stable._written, "F.greatest(C.BASE_OFFSET, C.LAST_OFFSET)", "F.col(C.BASE_OFFSET)",
               "a log has nothing of a batch it begins within"),
    ),
    "follower_hw_goes_down": (
        Mutant(own_states._with_what_is_told, ".when(response & taken, hw_taken())", "", "responses bring no HW"),
    ),
    "a_witness_of_the_smaller_isr": (
        Mutant(throughout.throughout, "F.when(left, mask.bitwiseAND(~(1 << i)))", "F.when(F.lit(False), mask)",
               "who left the ISR in between had to fetch"),
    ),
    "a_witness_lowers_nobody": (
        Mutant(own_states.with_own_state, "is_event_of(i, N.RESPONSE) | leo.isNotNull()",
               "is_event_of(i, N.RESPONSE) | leo.isNotNull() | _witnessed(i)",
               "a bound is all that a replica has"),
    ),
    "a_replica_that_registered_anew_is_not_waited_for": (
        Mutant(in_sync.is_eligible, "F.col(slot_column(N.IS_REREGISTERED, slot))", "F.lit(False)",
               "a broker epoch is no matter"),
    ),
    "a_replica_without_broker_epochs_is_waited_for": (
        Mutant(in_sync.is_eligible, "F.lit(profile.states_broker_epochs) & ", "", "every fetch states a broker epoch"),
    ),
    "h_truncation_to_the_hw_loses_a_committed_record": (
        Mutant(stated_cuts._said, "methods[aim]", 'F.lit(None).cast("string")', "no line tells why a replica cuts"),
    ),
}  # fmt: skip
"""By the story that notices."""


def wrong(story: Story, told: Told) -> Iterator[str]:
    """What is rebuilt otherwise than the story says, or the twin of its truncations: replica, LEO after, method."""
    yield from disputes(story, told)
    yield from cuts_not_made(story, told)
    twins = [row for cluster in story.clusters.values() for row in cluster.rows.truncations]
    made, had = (
        Counter((row["replica_id"], row["to_offset"], row["method"]) for row in of) for of in (told.truncations, twins)
    )
    yield from (f"cut: {cut}" for cut in (made - had) + (had - made))


@pytest.fixture(scope="module")
def stories() -> dict[str, Story]:
    """The stories that notice, by name."""
    return {name: load(SCENARIOS / f"{name}.txt") for name in MUTANTS}


def test_the_right_one_is_wrong_nowhere(spark: SparkSession, stories: dict[str, Story]) -> None:
    """Else a mutant would die of something else."""
    told = retold(spark, stories.values(), combined(list(stories.values())))

    assert [dispute for name, story in stories.items() for dispute in wrong(story, told[name])] == []


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutants_die(
    name: str, spark: SparkSession, stories: dict[str, Story], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The story is rebuilt wrongly by each of them."""
    story = stories[name]
    for mutant in MUTANTS[name]:
        with monkeypatch.context() as patch:
            mutant.live(patch)
            assert list(wrong(story, retold(spark, [story], story.landing)[name])) != [], mutant
