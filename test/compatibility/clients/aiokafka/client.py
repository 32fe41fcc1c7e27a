import asyncio
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from driver import GRACE_SECONDS, Assigned, emit, emit_record, main, records_of, stop_requested


async def create(bootstrap, args):
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic, args["partitions"], 1) for topic in args["topics"]])
    await admin.close()


async def produce(bootstrap, args):
    for job in args["jobs"]:
        codec = None if job["codec"] == "none" else job["codec"]
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, compression_type=codec, acks="all", linger_ms=20,
                                    enable_idempotence=job["idempotent"])
        await producer.start()
        sent = [(n, await producer.send(job["topic"], key=key, value=value, headers=headers))
                for n, key, value, headers in records_of(job)]
        for n, future in sent:
            at = await future
            emit("acked", topic=at.topic, partition=at.partition, offset=at.offset, n=n)
        await producer.stop()


def show(record):
    emit_record(record.topic, record.partition, record.offset, record.timestamp, record.key, record.value, record.headers)


async def consume(bootstrap, args):
    consumer = AIOKafkaConsumer(*args["topics"], bootstrap_servers=bootstrap, auto_offset_reset="earliest",
                                enable_auto_commit=False)
    await consumer.start()
    while len(partitions := sorted(consumer.assignment())) < len(args["topics"]):
        await asyncio.sleep(0.05)
    if args["from"] != "start":
        ends = await consumer.end_offsets(partitions)
        found = await consumer.offsets_for_times({p: args["from"] for p in partitions})
        for at in partitions:
            consumer.seek(at, ends[at] if found.get(at) is None else found[at].offset)
    seen, end = 0, None
    while end is None or time.monotonic() < end:
        for records in (await consumer.getmany(timeout_ms=100)).values():
            for record in records:
                show(record)
                seen += 1
        if seen >= args["count"] and end is None:
            end = time.monotonic() + GRACE_SECONDS
    await consumer.stop()


async def member(bootstrap, args):
    stopped, assigned = stop_requested(), Assigned()
    consumer = AIOKafkaConsumer(args["topic"], bootstrap_servers=bootstrap, group_id=args["group"],
                                auto_offset_reset="earliest", enable_auto_commit=False, session_timeout_ms=6000,
                                heartbeat_interval_ms=500, partition_assignment_strategy=(RangePartitionAssignor,))
    await consumer.start()
    while not stopped.is_set():
        polled = await consumer.getmany(timeout_ms=100)
        assigned.show(p.partition for p in consumer.assignment())
        if not polled:
            continue
        for records in polled.values():
            for record in records:
                show(record)
        await consumer.commit({at: records[-1].offset + 1 for at, records in polled.items()})
        for at, records in polled.items():
            emit("committed", partition=at.partition, offset=records[-1].offset + 1)
    await consumer.stop()


def blocking(verb):
    return lambda bootstrap, args: asyncio.run(verb(bootstrap, args))


main(create=blocking(create), produce=blocking(produce), consume=blocking(consume), member=blocking(member))
