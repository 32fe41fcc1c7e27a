import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from driver import GRACE_SECONDS, Assigned, emit, emit_record, main, records_of, stop_requested


def create(bootstrap, args):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for created in admin.create_topics([NewTopic(topic, args["partitions"]) for topic in args["topics"]]).values():
        created.result()


def produce(bootstrap, args):
    for job in args["jobs"]:
        producer = Producer({"bootstrap.servers": bootstrap, "compression.type": job["codec"], "acks": "all",
                             "linger.ms": 20, "enable.idempotence": job["idempotent"]})
        failures = []

        def delivered(n):
            def report(error, at):
                if error is not None:
                    failures.append(error)
                else:
                    emit("acked", topic=at.topic(), partition=at.partition(), offset=at.offset(), n=n)
            return report

        for n, key, value, headers in records_of(job):
            producer.produce(job["topic"], key=key, value=value, headers=headers, on_delivery=delivered(n))
        left = producer.flush(30)
        if left or failures:
            raise RuntimeError(f"{left} records were not delivered, {failures[:3]}")


def transact(bootstrap, args):
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": args["id"]})
    producer.init_transactions()
    for job in args["jobs"]:
        producer.begin_transaction()
        for n, key, value, headers in records_of(job):
            producer.produce(job["topic"], key=key, value=value, headers=headers)
        if args["commit"]:
            producer.commit_transaction()
        else:
            producer.abort_transaction()


def show(record):
    emit_record(record.topic(), record.partition(), record.offset(), record.timestamp()[1], record.key(), record.value(),
                record.headers())


def consume(bootstrap, args):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": args["group"], "enable.auto.commit": False,
                         "auto.offset.reset": "earliest", "fetch.wait.max.ms": 200})
    topics = consumer.list_topics(timeout=30).topics
    starts = [TopicPartition(topic, p, 0) for topic in args["topics"] for p in topics[topic].partitions]
    if args["from"] != "start":
        for start in starts:
            start.offset = args["from"]
        starts = consumer.offsets_for_times(starts, timeout=30)
    consumer.assign(starts)
    seen, end = 0, None
    while end is None or time.monotonic() < end:
        for record in consumer.consume(500, timeout=0.1):
            if record.error() is not None:
                raise RuntimeError(record.error())
            show(record)
            seen += 1
        if seen >= args["count"] and end is None:
            end = time.monotonic() + GRACE_SECONDS
    consumer.close()


def member(bootstrap, args):
    stopped, assigned = stop_requested(), Assigned()
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": args["group"], "enable.auto.commit": False,
                         "auto.offset.reset": "earliest", "session.timeout.ms": 6000, "heartbeat.interval.ms": 500,
                         "fetch.wait.max.ms": 200,
                         "partition.assignment.strategy": "range" if args["assignor"] == "eager" else "cooperative-sticky",
                         **args.get("settings", {})})
    consumer.subscribe([args["topic"]])
    while not stopped.is_set():
        records = consumer.consume(500, timeout=0.1)
        assigned.show(p.partition for p in consumer.assignment())
        if not records:
            continue
        for record in records:
            if record.error() is not None:
                raise RuntimeError(record.error())
            show(record)
        for at in consumer.commit(asynchronous=False):
            if at.error is not None:
                raise RuntimeError(at.error)
            emit("committed", partition=at.partition, offset=at.offset)
    consumer.close()


main(create=create, produce=produce, consume=consume, member=member, transact=transact)
