"""One fetch: the follower's request, what the leader makes of it, the response, what the follower makes of that."""

from __future__ import annotations

from dataclasses import dataclass

from tests.twin import isr
from tests.twin.appending import complete_produces
from tests.twin.commands import ConsumerFetch, Fetch, NotNowError, Respond
from tests.twin.faults import PassTime
from tests.twin.log import NOWHERE, UNKNOWN, Record
from tests.twin.model import Broker, Cluster, Fetcher, ParkedFetch
from tests.twin.profile import Profile
from tests.twin.rows import Row, at
from tests.twin.truncating import by_epoch, out_of_range

OUT_OF_RANGE, NOT_LEADER, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 1, 6, 74, 75
MAX_WAIT_MS = 500


@dataclass(frozen=True)
class Answer:
    """What the leader read for a fetch, at one moment. An error carries no offsets."""

    error_code: int = 0
    high_watermark: int = UNKNOWN
    last_stable_offset: int = UNKNOWN
    log_start_offset: int = UNKNOWN
    diverging: tuple[int, int] = NOWHERE
    records: tuple[Record, ...] = ()


def _refusal(broker: Broker, request: Row, *, is_checked: bool) -> int:
    """The error of a fetch that is not for this leader; 0 if it is. The epoch is looked at before leadership."""
    epoch = request["current_leader_epoch"] if is_checked else UNKNOWN
    if epoch != UNKNOWN and broker.leader_epoch not in (UNKNOWN, epoch):
        return FENCED_LEADER_EPOCH if epoch < broker.leader_epoch else UNKNOWN_LEADER_EPOCH
    if broker.leading is None:
        return NOT_LEADER
    if request["replica_id"] not in broker.leading.remotes:
        return NOT_LEADER if epoch == UNKNOWN else UNKNOWN_LEADER_EPOCH
    return 0


def _is_checked(profile: Profile, session_epoch: int) -> bool:
    """Whether the leader looks at the epoch that a request names."""
    return not profile.sessions_forget_epochs or session_epoch <= 0


def _read(cluster: Cluster, broker: Broker, request: Row, gets: int | None) -> Answer:
    """Refusal, then divergence, then range, then the records. Changes nothing."""
    is_checked = _is_checked(cluster.rules.profile, request["session_epoch"])
    log, offset, last_fetched = broker.log, request["fetch_offset"], request["last_fetched_epoch"]
    if refusal := _refusal(broker, request, is_checked=is_checked):
        return Answer(refusal)
    found = log.end_offset_for(last_fetched)
    if offset < log.log_start_offset or (last_fetched != UNKNOWN and found == NOWHERE):
        return Answer(OUT_OF_RANGE)
    offsets = (log.high_watermark, log.last_stable_offset, log.log_start_offset)
    if last_fetched != UNKNOWN and (found[0] < last_fetched or found[1] < offset):
        return Answer(0, *offsets, diverging=found)
    if offset > log.log_end_offset:
        return Answer(OUT_OF_RANGE)
    return Answer(0, *offsets, records=tuple(log.read(offset, gets)))


def _request(cluster: Cluster, follower: Broker, leader: Broker) -> Row:
    """The follower's request as the leader's request log has it; it opens or continues a fetch session."""
    profile = cluster.rules.profile
    if follower.fetcher is None or follower.fetcher.leader_incarnation != leader.incarnation:
        follower.fetcher = cluster.new_fetcher(leader.id)
    fetcher = follower.fetcher
    fetcher.session_epoch += 1
    divergence = profile.truncation == "fetch_divergence"
    epoch = follower.leader_epoch if profile.fetch_states_epoch else UNKNOWN
    session_epoch = fetcher.session_epoch if profile.fetch_sessions else UNKNOWN
    is_told = epoch != UNKNOWN and _is_checked(profile, session_epoch)
    return {
        "leader_epoch": epoch if is_told else leader.leader_epoch,
        "event_time": at(cluster.clock.now), "replica_id": follower.id,
        "replica_epoch": 100 * follower.id + follower.incarnation if profile.broker_epochs else UNKNOWN,
        "client_id": f"broker-{follower.id}-fetcher-0", "fetch_offset": follower.log.log_end_offset,
        "current_leader_epoch": epoch, "last_fetched_epoch": follower.log.latest_epoch if divergence else UNKNOWN,
        "log_start_offset": follower.log.log_start_offset, "isolation_level": 0,
        "session_id": fetcher.session_id if profile.fetch_sessions else 0,
        "session_epoch": session_epoch,
        # What is left of the log when it lands tells: `tests.sessions`.
        "session_unbroken_since": None if profile.fetch_sessions else UNKNOWN,
    }  # fmt: skip


def fetch(cluster: Cluster, command: Fetch) -> None:
    """A follower fetches. It has one fetch at a time: one that is still parked is answered first."""
    follower = cluster.alive(command.replica)
    if follower.leading or follower.leader_id == UNKNOWN or follower.is_truncating:
        raise NotNowError(f"{follower.id} does not fetch now")
    broker = cluster.alive(follower.leader_id)
    if follower.fetcher and follower.fetcher.has_failed:
        raise NotNowError(f"{follower.id} waits for metadata")
    if command.offset != follower.log.log_end_offset:
        raise NotNowError(f"the LEO of {follower.id} is {follower.log.log_end_offset}")
    for parked in [p for p in cluster.parked.get(broker.id, []) if p.fetcher is follower.fetcher]:
        complete(cluster, broker, parked)
    now = cluster.clock.tick()
    request = _request(cluster, follower, broker)
    fetcher = follower.fetcher
    assert fetcher is not None
    answer = _read(cluster, broker, request, command.gets)
    leader = broker.leading
    is_refused = answer.diverging != NOWHERE and not cluster.profile_of(broker).records_divergence
    if answer.error_code or is_refused or leader is None:
        _respond(cluster, broker, request, fetcher, answer)
        return
    remote, before = leader.remotes[follower.id], broker.log.high_watermark
    offset = (
        broker.log.batch_start(command.offset) if cluster.profile_of(broker).records_batch_start else command.offset
    )
    changed = remote.log_end_offset != offset
    remote.fetched(offset, broker.log.log_end_offset, now, request["replica_epoch"])
    leader.maybe_propose_joining(follower.id)
    if changed or leader.profile.evaluates_each_fetch:
        leader.try_raise_high_watermark(now)
    expected = cluster.note_leader(broker, "FETCH", follower.id)
    isr.settle(cluster, broker)
    if broker.log.high_watermark > before:
        complete_produces(cluster, broker)
    if answer.records or answer.diverging != NOWHERE or command.at_once:
        _respond(cluster, broker, request, fetcher, answer, dropped=command.dropped)
    else:
        parked = ParkedFetch(follower.id, fetcher, command.offset, command.gets, command.dropped, request, expected)
        cluster.parked.setdefault(broker.id, []).append(parked)


def complete(cluster: Cluster, broker: Broker, parked: ParkedFetch) -> None:
    """A parked fetch is read again, HW and all, and answered; the leader's idea of the follower stays."""
    cluster.parked[broker.id].remove(parked)
    answer = _read(cluster, broker, parked.request, parked.gets)
    _respond(cluster, broker, parked.request, parked.fetcher, answer, is_parked=True, dropped=parked.dropped)


def complete_all(cluster: Cluster, broker: Broker) -> None:
    """All that is parked at a broker is answered: records came, or it leads no longer."""
    for parked in list(cluster.parked.get(broker.id, [])):
        complete(cluster, broker, parked)


def _respond(
    cluster: Cluster, broker: Broker, request: Row, fetcher: Fetcher, answer: Answer, *, is_parked: bool = False,
    dropped: bool = False,
) -> None:  # fmt: skip
    """Write the line of the request log and hand the response to the follower."""
    cluster.clock.tick()
    asked = (
        request["fetch_offset"],
        request["log_start_offset"],
        request["leader_epoch"],
        request["last_fetched_epoch"],
    )
    sent = (answer.high_watermark, answer.log_start_offset)
    is_news = answer.error_code != 0 or answer.diverging != NOWHERE or bool(answer.records) or fetcher.sent != sent
    omitted = request["session_epoch"] > 0 and not is_news
    shown = Answer() if omitted else answer
    cluster.rows.fetch(
        broker.id, **request, response_time=at(cluster.clock.now), error_code=answer.error_code, is_parked=is_parked,
        is_implied=omitted and fetcher.asked == asked,
        records_size=UNKNOWN if omitted else 100 * len(answer.records),
        response_high_watermark=shown.high_watermark,
        session_high_watermark=UNKNOWN if answer.error_code else answer.high_watermark,
        response_last_stable_offset=shown.last_stable_offset,
        response_log_start_offset=shown.log_start_offset, diverging_epoch=answer.diverging[0],
        diverging_end_offset=answer.diverging[1],
    )  # fmt: skip
    fetcher.sent, fetcher.asked = sent, asked
    follower = cluster.brokers.get(request["replica_id"])
    if follower is None or follower.fetcher is not fetcher or dropped or omitted:
        return
    if follower.log.log_end_offset == request["fetch_offset"] and not follower.is_truncating:
        _accept(cluster, follower, broker, answer)


def _accept(cluster: Cluster, follower: Broker, leader: Broker, answer: Answer) -> None:
    """What a follower does with a response: cut, or append, then HW, then log start."""
    log = follower.log
    if answer.error_code == OUT_OF_RANGE:
        out_of_range(cluster, follower, leader)
    elif answer.error_code == FENCED_LEADER_EPOCH and follower.fetcher:
        follower.fetcher.has_failed = True
    elif answer.error_code == 0 and answer.diverging != NOWHERE:
        if cluster.profile_of(follower).heeds_divergence:
            _take(cluster, follower, answer)
        by_epoch(cluster, follower, answer.diverging, "fetch_divergence")
    elif answer.error_code == 0:
        log.append(list(answer.records))
        _take(cluster, follower, answer)


def _take(cluster: Cluster, follower: Broker, answer: Answer) -> None:
    """The HW, then the log start of a response (ReplicaFetcherThread.processPartitionData)."""
    log, now = follower.log, cluster.clock.now
    log.set_follower_high_watermark(answer.high_watermark)
    if log.move_log_start(answer.log_start_offset):
        cluster.rows.state("log_start_offset", follower.id, now, follower.leader_epoch, log.log_start_offset)
    cluster.note()


def respond(cluster: Cluster, command: Respond) -> None:
    """What a replica has parked is answered; one that has restarted may have a fetch of its old process there too."""
    parked = [(b, p) for b in cluster.parked for p in cluster.parked[b] if p.replica == command.replica]
    if not parked:
        raise NotNowError(f"{command.replica} has no fetch parked")
    for broker_id, fetch_of_it in parked:
        complete(cluster, cluster.brokers[broker_id], fetch_of_it)


def pass_time(cluster: Cluster, command: PassTime) -> None:
    """Half a second is the longest a fetch is parked."""
    end = cluster.clock.now + command.milliseconds
    if command.milliseconds >= MAX_WAIT_MS and any(cluster.parked.values()):
        cluster.clock.tick(MAX_WAIT_MS)
        for broker in cluster.brokers.values():
            complete_all(cluster, broker)
    cluster.clock.now = max(end, cluster.clock.now)


def consumer_fetch(cluster: Cluster, command: ConsumerFetch) -> None:
    """A consumer reads up to the HW, or the LSO; the leader does not keep that it did."""
    broker, _ = cluster.leading()
    log = broker.log
    now = cluster.clock.tick()
    is_in_range = log.log_start_offset <= command.offset <= log.log_end_offset
    end = log.last_stable_offset if command.read_committed else log.high_watermark
    size = 100 * max(0, end - command.offset) if is_in_range else 0
    offsets = (log.high_watermark, log.last_stable_offset, log.log_start_offset) if is_in_range else (UNKNOWN,) * 3
    cluster.clock.tick()
    cluster.rows.fetch(
        broker.id, leader_epoch=broker.leader_epoch, event_time=at(now), response_time=at(cluster.clock.now),
        replica_id=-1, replica_epoch=-1, client_id="consumer", fetch_offset=command.offset,
        current_leader_epoch=broker.leader_epoch, last_fetched_epoch=-1, log_start_offset=-1, session_id=0,
        session_epoch=-1, session_unbroken_since=-1, isolation_level=int(command.read_committed),
        error_code=0 if is_in_range else OUT_OF_RANGE, is_parked=False, is_implied=False, records_size=size,
        response_high_watermark=offsets[0], session_high_watermark=offsets[0], response_last_stable_offset=offsets[1],
        response_log_start_offset=offsets[2],
    )  # fmt: skip
