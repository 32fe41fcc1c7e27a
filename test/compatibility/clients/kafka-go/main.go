// The driver on an old kafka-go, which joins groups with JoinGroup 1. ../README.md has the protocol.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

type job struct {
	Topic, Prefix            string
	First, Count, ValueBytes int
}

type arguments struct {
	Topic, Group string
	Jobs         []job
}

func emit(event string, fields map[string]any) {
	line := map[string]any{"event": event}
	for name, value := range fields {
		line[name] = value
	}
	text, err := json.Marshal(line)
	must(err)
	fmt.Println(string(text))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kafka-go:", err)
		os.Exit(1)
	}
}

func produce(ctx context.Context, bootstrap string, a arguments) {
	for _, j := range a.Jobs {
		w := &kafka.Writer{Addr: kafka.TCP(bootstrap), Topic: j.Topic, Balancer: &kafka.Hash{}, RequiredAcks: kafka.RequireAll,
			BatchTimeout: 20 * time.Millisecond, AllowAutoTopicCreation: true}
		records := []kafka.Message{}
		for n := j.First; n < j.First+j.Count; n++ {
			value := fmt.Sprintf("%s-%d", j.Prefix, n)
			value += strings.Repeat(".", max(0, j.ValueBytes-len(value)))
			records = append(records, kafka.Message{Key: []byte(fmt.Sprintf("k%d", n%10)), Value: []byte(value),
				Headers: []kafka.Header{{Key: "job", Value: []byte(j.Prefix)}}})
		}
		must(w.WriteMessages(ctx, records...))
		must(w.Close())
	}
}

func member(ctx context.Context, bootstrap string, a arguments) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }()
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{bootstrap}, GroupID: a.Group, Topic: a.Topic, StartOffset: kafka.FirstOffset,
		MaxWait: 200 * time.Millisecond, SessionTimeout: 6 * time.Second, HeartbeatInterval: 500 * time.Millisecond,
		ErrorLogger: kafka.LoggerFunc(func(text string, args ...any) { fmt.Fprintf(os.Stderr, text+"\n", args...) })})
	for {
		m, err := r.FetchMessage(ctx)
		if errors.Is(err, context.Canceled) {
			break
		}
		must(err)
		headers := map[string]string{}
		for _, h := range m.Headers {
			headers[h.Key] = string(h.Value)
		}
		emit("record", map[string]any{"topic": m.Topic, "partition": m.Partition, "offset": m.Offset, "timestamp": m.Time.UnixMilli(),
			"key": string(m.Key), "value": string(m.Value), "headers": headers})
		must(r.CommitMessages(context.Background(), m))
		emit("committed", map[string]any{"partition": m.Partition, "offset": m.Offset + 1})
	}
	must(r.Close())
}

func main() {
	verbs := map[string]func(context.Context, string, arguments){"produce": produce, "member": member}
	var a arguments
	must(json.Unmarshal([]byte(os.Args[3]), &a))
	verbs[os.Args[1]](context.Background(), os.Args[2], a)
	emit("done", nil)
}
