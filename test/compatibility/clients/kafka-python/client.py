import time

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

from driver import GRACE_SECONDS, Assigned, emit, emit_record, main, records_of, stop_requested


def create(bootstrap, args):
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics({topic: {"num_partitions": args["partitions"]} for topic in args["topics"]})
    admin.close()


def produce(bootstrap, args):
    for job in args["jobs"]:
        codec = None if job["codec"] == "none" else job["codec"]
        producer = KafkaProducer(bootstrap_servers=bootstrap, compression_type=codec, acks="all", linger_ms=20,
                                 enable_idempotence=job["idempotent"])
        sent = [(n, producer.send(job["topic"], key=key, value=value, headers=headers))
                for n, key, value, headers in records_of(job)]
        producer.flush()
        for n, future in sent:
            at = future.get(timeout=30)
            emit("acked", topic=at.topic, partition=at.partition, offset=at.offset, n=n)
        producer.close()


def show(record):
    emit_record(record.topic, record.partition, record.offset, record.timestamp, record.key, record.value, record.headers)


def consume(bootstrap, args):
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    partitions = [TopicPartition(topic, p) for topic in args["topics"] for p in sorted(consumer.partitions_for_topic(topic))]
    consumer.assign(partitions)
    if args["from"] == "start":
        consumer.seek_to_beginning(*partitions)
    else:
        ends = consumer.end_offsets(partitions)
        for at, found in consumer.offsets_for_times({p: args["from"] for p in partitions}).items():
            consumer.seek(at, ends[at] if found is None else found.offset)
    seen, end = 0, None
    while end is None or time.monotonic() < end:
        for records in consumer.poll(timeout_ms=100).values():
            for record in records:
                show(record)
                seen += 1
        if seen >= args["count"] and end is None:
            end = time.monotonic() + GRACE_SECONDS
    consumer.close()


def member(bootstrap, args):
    stopped, assigned = stop_requested(), Assigned()
    assignor = RangePartitionAssignor if args["assignor"] == "eager" else CooperativeStickyAssignor
    consumer = KafkaConsumer(args["topic"], bootstrap_servers=bootstrap, group_id=args["group"],
                             auto_offset_reset="earliest", enable_auto_commit=False, session_timeout_ms=6000,
                             heartbeat_interval_ms=500, partition_assignment_strategy=(assignor,))
    # kafka-python 3.0.12 loses an assignment when a poll ends in the middle of a second join, which comes with the first
    # metadata, 100 ms after the start (the leader's metadata snapshot then says that nothing is left to join for).
    while not stopped.is_set():
        polled = consumer.poll(timeout_ms=700)
        assigned.show(p.partition for p in consumer.assignment())
        if not polled:
            continue
        for records in polled.values():
            for record in records:
                show(record)
        consumer.commit()
        for at, records in polled.items():
            emit("committed", partition=at.partition, offset=records[-1].offset + 1)
    consumer.close()


main(create=create, produce=produce, consume=consume, member=member)
