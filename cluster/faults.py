"""What happens to a cluster's processes and disks while it is under load: each method is one act."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from cluster.acts import Acts, Say
from cluster.brokers import Cluster

CHECK_SECONDS = 0.5


class Faults(Acts):
    """Acts upon the nodes of a cluster."""

    def __init__(self, cluster: Cluster, say: Say) -> None:
        super().__init__(say)
        self.cluster = cluster

    def rest(self, seconds: float) -> None:
        """Let the load run on; a broker that ends by itself meanwhile is an error."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.cluster.check()
            time.sleep(min(left, CHECK_SECONDS))

    def freeze(self, *brokers: int) -> None:
        """SIGSTOP."""
        for broker in brokers:
            self.note(f"freeze broker {broker}")
            self.cluster.brokers[broker].freeze()

    def thaw(self, *brokers: int) -> None:
        """SIGCONT."""
        for broker in brokers:
            self.note(f"thaw broker {broker}")
            self.cluster.brokers[broker].thaw()

    @contextmanager
    def frozen(self, *brokers: int) -> Iterator[None]:
        """Brokers frozen for as long as the block takes."""
        self.freeze(*brokers)
        try:
            yield
        finally:
            self.thaw(*brokers)

    def kill(self, broker: int) -> None:
        """SIGKILL."""
        self.note(f"kill -9 broker {broker}")
        self.cluster.brokers[broker].kill()

    def stop(self, broker: int) -> None:
        """An orderly shutdown, leaderships handed over."""
        self.note(f"shut down broker {broker}")
        self.cluster.brokers[broker].terminate()
        self.cluster.brokers[broker].wait_stopped()

    def start(self, broker: int) -> None:
        """Start a broker that is down, on the data it has."""
        self.note(f"start broker {broker}")
        self.cluster.brokers[broker].start()
        self.cluster.brokers[broker].wait_started()

    def upgrade(self, broker: int) -> None:
        """Shut a broker down and start it as what the cluster is upgraded to, on the data it has."""
        self.stop(broker)
        node, distribution = self.cluster.brokers[broker], self.cluster.upgrade
        node.distribution = distribution
        self.note(f"broker {broker} is of Kafka {distribution.version} now")
        self.start(broker)

    def kill_controller(self) -> None:
        """SIGKILL to the controller or the ZooKeeper: brokers go on, and no ISR changes."""
        self.note("kill -9 the controller")
        self.cluster.controller.kill()

    def start_controller(self) -> None:
        """Start it again, on the data it has."""
        self.note("start the controller")
        self.cluster.controller.start()
        self.cluster.controller.wait_started()

    def lose_disk(self, broker: int) -> None:
        """Take the last disk of a broker away, which finds out when it next writes a checkpoint there."""
        self.note(f"take the last disk of broker {broker} away")
        self.cluster.brokers[broker].folder.lose_disk()

    def give_disk_back(self, broker: int) -> None:
        """Shut the broker down, put its disk back as it was, and start it."""
        self.stop(broker)
        self.note(f"give broker {broker} its disk back")
        self.cluster.brokers[broker].folder.give_disk_back()
        self.start(broker)
