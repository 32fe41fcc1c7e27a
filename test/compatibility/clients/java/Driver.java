import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** The driver on Kafka's own Java clients. ../README.md has the protocol. */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** How long {@code consume} listens for a record too many. */
    private static final long GRACE_MS = 350;

    public static void main(String[] args) throws Exception {
        JsonNode given = JSON.readTree(args[2]);
        switch (args[0]) {
            case "create" -> create(args[1], given);
            case "produce" -> produce(args[1], given);
            case "consume" -> consume(args[1], given);
            case "member" -> member(args[1], given);
            case "transact" -> transact(args[1], given);
            case "share" -> share(args[1], given);
            default -> throw new IllegalArgumentException(args[0]);
        }
        emit(event("done"));
    }

    private static ObjectNode event(String name) {
        return JSON.createObjectNode().put("event", name);
    }

    private static void emit(ObjectNode event) {
        System.out.println(event);
        System.out.flush();
    }

    private static void emit(ConsumerRecord<String, String> record) {
        ObjectNode event = event("record").put("topic", record.topic()).put("partition", record.partition())
            .put("offset", record.offset()).put("timestamp", record.timestamp()).put("key", record.key()).put("value", record.value());
        ObjectNode headers = event.putObject("headers");
        for (Header header : record.headers()) headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8));
        emit(event);
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    private static void create(String bootstrap, JsonNode given) throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            Optional<Integer> partitions = Optional.of(given.get("partitions").asInt());
            admin.createTopics(texts(given.get("topics")).stream().map(topic -> new NewTopic(topic, partitions, Optional.empty())).toList())
                .all().get();
        }
    }

    private static void produce(String bootstrap, JsonNode given) throws Exception {
        for (JsonNode job : given.get("jobs")) {
            Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "acks", "all", "linger.ms", 20,
                "compression.type", job.get("codec").asText(), "enable.idempotence", job.get("idempotent").asBoolean());
            try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                send(producer, job);
            }
        }
    }

    /** This driver's own verb: the jobs are sent in one transaction each, which is committed or aborted as "commit" says. */
    private static void transact(String bootstrap, JsonNode given) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "transactional.id", given.get("id").asText(), "linger.ms", 20);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            for (JsonNode job : given.get("jobs")) {
                producer.beginTransaction();
                send(producer, job);
                if (given.get("commit").asBoolean()) producer.commitTransaction();
                else producer.abortTransaction();
            }
        }
    }

    /** This driver's own verb: joins a share group until as many records are seen. */
    private static void share(String bootstrap, JsonNode given) {
        Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "group.id", given.get("group").asText());
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(given.get("topic").asText()));
            long seen = 0;
            while (seen < given.get("count").asLong()) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    emit(record);
                    seen++;
                }
            }
        }
    }

    private static void send(KafkaProducer<String, String> producer, JsonNode job) throws Exception {
        String prefix = job.get("prefix").asText();
        int first = job.get("first").asInt();
        Map<Integer, Future<RecordMetadata>> sent = new LinkedHashMap<>();
        for (int n = first; n < first + job.get("count").asInt(); n++) {
            String text = prefix + "-" + n;
            String value = text + ".".repeat(Math.max(0, job.get("valueBytes").asInt() - text.length()));
            ProducerRecord<String, String> record = new ProducerRecord<>(job.get("topic").asText(), "k" + n % 10, value);
            record.headers().add("job", prefix.getBytes(StandardCharsets.UTF_8));
            sent.put(n, producer.send(record));
        }
        producer.flush();
        for (Map.Entry<Integer, Future<RecordMetadata>> each : sent.entrySet()) {
            RecordMetadata at = each.getValue().get();
            emit(event("acked").put("topic", at.topic()).put("partition", at.partition()).put("offset", at.offset()).put("n", each.getKey()));
        }
    }

    private static KafkaConsumer<String, String> consumer(String bootstrap, Map<String, Object> more) {
        Map<String, Object> settings = new LinkedHashMap<>(more);
        settings.put("bootstrap.servers", bootstrap);
        settings.put("enable.auto.commit", false);
        settings.put("auto.offset.reset", "earliest");
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    private static void consume(String bootstrap, JsonNode given) {
        String isolation = given.path("isolation").asText("read_uncommitted");
        try (KafkaConsumer<String, String> consumer = consumer(bootstrap, Map.of("isolation.level", isolation))) {
            List<TopicPartition> partitions = texts(given.get("topics")).stream()
                .flatMap(topic -> consumer.partitionsFor(topic).stream()).map(info -> new TopicPartition(info.topic(), info.partition())).toList();
            consumer.assign(partitions);
            if (given.get("from").isTextual()) consumer.seekToBeginning(partitions);
            else seekToTime(consumer, partitions, given.get("from").asLong());
            long seen = 0;
            long end = Long.MAX_VALUE;
            while (System.currentTimeMillis() < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    emit(record);
                    seen++;
                }
                if (seen >= given.get("count").asLong() && end == Long.MAX_VALUE) end = System.currentTimeMillis() + GRACE_MS;
            }
        }
    }

    private static void seekToTime(KafkaConsumer<String, String> consumer, List<TopicPartition> partitions, long time) {
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, Long> asked = new LinkedHashMap<>();
        partitions.forEach(partition -> asked.put(partition, time));
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(asked);
        for (TopicPartition partition : partitions) {
            OffsetAndTimestamp at = found.get(partition);
            consumer.seek(partition, at == null ? ends.get(partition) : at.offset());
        }
    }

    private static void member(String bootstrap, JsonNode given) throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            try {
                System.in.readAllBytes();
            } catch (java.io.IOException ended) {
                // as good as its end
            }
            stopped.set(true);
        });
        reader.setDaemon(true);
        reader.start();
        String assignor = given.get("assignor").asText().equals("eager") ? "RangeAssignor" : "CooperativeStickyAssignor";
        Map<String, Object> settings = new LinkedHashMap<>(Map.of("group.id", given.get("group").asText(), "session.timeout.ms", 6000,
            "heartbeat.interval.ms", 500));
        if (!given.get("assignor").asText().equals("default")) settings.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor);
        given.path("settings").fields().forEachRemaining(each -> settings.put(each.getKey(), each.getValue().asText()));
        try (KafkaConsumer<String, String> consumer = consumer(bootstrap, settings)) {
            consumer.subscribe(List.of(given.get("topic").asText()));
            Collection<Integer> shown = new TreeSet<>();
            while (!stopped.get()) {
                ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(100));
                Collection<Integer> held = new TreeSet<>(consumer.assignment().stream().map(TopicPartition::partition).toList());
                if (!held.equals(shown)) emitAssigned(held);
                shown = held;
                records.forEach(Driver::emit);
                if (!records.isEmpty()) commit(consumer, records);
            }
        }
    }

    private static void emitAssigned(Collection<Integer> held) {
        ObjectNode event = event("assigned");
        held.forEach(event.putArray("partitions")::add);
        emit(event);
    }

    private static void commit(KafkaConsumer<String, String> consumer, ConsumerRecords<String, String> records) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new LinkedHashMap<>();
        records.forEach(record -> offsets.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1)));
        consumer.commitSync(offsets);
        offsets.forEach((at, offset) -> emit(event("committed").put("partition", at.partition()).put("offset", offset.offset())));
    }
}
