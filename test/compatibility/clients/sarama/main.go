// The driver on Sarama, which takes its versions from the release that it is told. ../README.md has the protocol.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

type job struct {
	Topic, Prefix            string
	First, Count, ValueBytes int
}

type arguments struct {
	Topic, Group, Version string
	Jobs                  []job
}

var output sync.Mutex

func emit(event string, fields map[string]any) {
	line := map[string]any{"event": event}
	for name, value := range fields {
		line[name] = value
	}
	text, err := json.Marshal(line)
	must(err)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sarama:", err)
		os.Exit(1)
	}
}

func config(a arguments) *sarama.Config {
	c := sarama.NewConfig()
	version, err := sarama.ParseKafkaVersion(a.Version)
	must(err)
	c.Version = version
	c.Producer.Return.Successes = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Compression = sarama.CompressionSnappy
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.MaxWaitTime = 200 * time.Millisecond
	c.Consumer.Group.Session.Timeout = 6 * time.Second
	c.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	return c
}

func produce(bootstrap string, a arguments) {
	for _, j := range a.Jobs {
		p, err := sarama.NewSyncProducer([]string{bootstrap}, config(a))
		must(err)
		for n := j.First; n < j.First+j.Count; n++ {
			value := fmt.Sprintf("%s-%d", j.Prefix, n)
			value += strings.Repeat(".", max(0, j.ValueBytes-len(value)))
			partition, offset, err := p.SendMessage(&sarama.ProducerMessage{Topic: j.Topic, Key: sarama.StringEncoder(fmt.Sprintf("k%d", n%10)),
				Value: sarama.StringEncoder(value), Headers: []sarama.RecordHeader{{Key: []byte("job"), Value: []byte(j.Prefix)}}})
			must(err)
			emit("acked", map[string]any{"topic": j.Topic, "partition": partition, "offset": offset, "n": n})
		}
		must(p.Close())
	}
}

type handler struct{ topic string }

func (h handler) Setup(s sarama.ConsumerGroupSession) error {
	held := append([]int32{}, s.Claims()[h.topic]...)
	sort.Slice(held, func(i, j int) bool { return held[i] < held[j] })
	emit("assigned", map[string]any{"partitions": held})
	return nil
}

func (h handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (h handler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for m := range c.Messages() {
		headers := map[string]string{}
		for _, header := range m.Headers {
			headers[string(header.Key)] = string(header.Value)
		}
		emit("record", map[string]any{"topic": m.Topic, "partition": m.Partition, "offset": m.Offset, "timestamp": m.Timestamp.UnixMilli(),
			"key": string(m.Key), "value": string(m.Value), "headers": headers})
		s.MarkMessage(m, "")
		s.Commit()
	}
	return nil
}

func member(bootstrap string, a arguments) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }()
	g, err := sarama.NewConsumerGroup([]string{bootstrap}, a.Group, config(a))
	must(err)
	for ctx.Err() == nil {
		must(g.Consume(ctx, []string{a.Topic}, handler{a.Topic}))
	}
	must(g.Close())
}

func main() {
	verbs := map[string]func(string, arguments){"produce": produce, "member": member}
	var a arguments
	must(json.Unmarshal([]byte(os.Args[3]), &a))
	verbs[os.Args[1]](os.Args[2], a)
	emit("done", nil)
}
