"""What the drivers in Python share: arguments in, events out. clients/README.md has the protocol."""

import json
import sys
import threading

GRACE_SECONDS = 0.35  # how long `consume` listens for a record too many


def emit(event, **fields):
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def emit_record(topic, partition, offset, timestamp, key, value, headers):
    text = {name: given.decode() for name, given in headers or []}
    emit("record", topic=topic, partition=partition, offset=offset, timestamp=timestamp,
         key=None if key is None else key.decode(), value=None if value is None else value.decode(), headers=text)


def records_of(job):
    """Yields (n, key, value, headers) for each record of a job."""
    for n in range(job["first"], job["first"] + job["count"]):
        value = f"{job['prefix']}-{n}".ljust(job["valueBytes"], ".")
        yield n, f"k{n % 10}".encode(), value.encode(), [("job", job["prefix"].encode())]


def stop_requested():
    """An event that is set when the runner closes our standard input."""
    stopped = threading.Event()

    def wait():
        sys.stdin.read()
        stopped.set()

    threading.Thread(target=wait, daemon=True).start()
    return stopped


class Assigned:
    """Tells what a member holds, each time it is another set."""

    def __init__(self):
        self.shown = None

    def show(self, partitions):
        now = sorted(partitions)
        if now != self.shown and not (self.shown is None and not now):
            emit("assigned", partitions=now)
            self.shown = now


def main(**verbs):
    verb, bootstrap, text = sys.argv[1:4]
    verbs[verb](bootstrap, json.loads(text))
    emit("done")
