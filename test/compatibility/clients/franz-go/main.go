// The driver on franz-go. ../README.md has the protocol.
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

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// grace is how long consume listens for a record too many.
const grace = 350 * time.Millisecond

type job struct {
	Topic, Codec, Prefix     string
	Idempotent               bool
	First, Count, ValueBytes int
}

type arguments struct {
	Topics     []string
	Topic      string
	Group      string
	Assignor   string
	Partitions int32
	Count      int
	From       any
	Jobs       []job
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
		fmt.Fprintln(os.Stderr, "franz-go:", err)
		os.Exit(1)
	}
}

func emitRecord(r *kgo.Record) {
	headers := map[string]string{}
	for _, h := range r.Headers {
		headers[h.Key] = string(h.Value)
	}
	emit("record", map[string]any{"topic": r.Topic, "partition": r.Partition, "offset": r.Offset,
		"timestamp": r.Timestamp.UnixMilli(), "key": string(r.Key), "value": string(r.Value), "headers": headers})
}

func client(bootstrap string, options ...kgo.Opt) *kgo.Client {
	c, err := kgo.NewClient(append(options, kgo.SeedBrokers(strings.Split(bootstrap, ",")...), kgo.FetchMaxWait(200*time.Millisecond))...)
	must(err)
	return c
}

func create(ctx context.Context, bootstrap string, a arguments) {
	admin := kadm.NewClient(client(bootstrap))
	defer admin.Close()
	created, err := admin.CreateTopics(ctx, a.Partitions, -1, nil, a.Topics...)
	must(err)
	must(created.Error())
}

func codecOf(name string) kgo.CompressionCodec {
	return map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}[name]
}

func produce(ctx context.Context, bootstrap string, a arguments) {
	for _, j := range a.Jobs {
		options := []kgo.Opt{kgo.ProducerBatchCompression(codecOf(j.Codec)), kgo.ProducerLinger(20 * time.Millisecond), kgo.AllowAutoTopicCreation()}
		if !j.Idempotent {
			options = append(options, kgo.DisableIdempotentWrite())
		}
		c := client(bootstrap, options...)
		for n := j.First; n < j.First+j.Count; n++ {
			value := fmt.Sprintf("%s-%d", j.Prefix, n)
			value += strings.Repeat(".", max(0, j.ValueBytes-len(value)))
			record := &kgo.Record{Topic: j.Topic, Key: []byte(fmt.Sprintf("k%d", n%10)), Value: []byte(value),
				Headers: []kgo.RecordHeader{{Key: "job", Value: []byte(j.Prefix)}}}
			c.Produce(ctx, record, func(r *kgo.Record, err error) {
				must(err)
				emit("acked", map[string]any{"topic": r.Topic, "partition": r.Partition, "offset": r.Offset, "n": n})
			})
		}
		must(c.Flush(ctx))
		c.Close()
	}
}

func consume(ctx context.Context, bootstrap string, a arguments) {
	start := kgo.NewOffset().AtStart()
	if ms, ok := a.From.(float64); ok {
		start = kgo.NewOffset().AfterMilli(int64(ms))
	}
	c := client(bootstrap, kgo.ConsumeTopics(a.Topics...), kgo.ConsumeResetOffset(start))
	defer c.Close()
	deadline := time.Time{}
	for seen := 0; deadline.IsZero() || time.Now().Before(deadline); {
		poll, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		fetches := c.PollFetches(poll)
		cancel()
		fetches.EachError(func(_ string, _ int32, err error) {
			if poll.Err() == nil {
				must(err)
			}
		})
		fetches.EachRecord(func(r *kgo.Record) { emitRecord(r); seen++ })
		if seen >= a.Count && deadline.IsZero() {
			deadline = time.Now().Add(grace)
		}
	}
}

// held is what a member has now; franz-go tells it of changes.
type held struct {
	mutex      sync.Mutex
	partitions map[int32]bool
}

func (h *held) change(given bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		for _, partitions := range topics {
			for _, p := range partitions {
				if given {
					h.partitions[p] = true
				} else {
					delete(h.partitions, p)
				}
			}
		}
		now := []int32{}
		for p := range h.partitions {
			now = append(now, p)
		}
		sort.Slice(now, func(i, j int) bool { return now[i] < now[j] })
		emit("assigned", map[string]any{"partitions": now})
	}
}

func member(ctx context.Context, bootstrap string, a arguments) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }()
	h := &held{partitions: map[int32]bool{}}
	var balancer kgo.GroupBalancer = kgo.RangeBalancer()
	if a.Assignor == "cooperative" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	c := client(bootstrap, kgo.ConsumeTopics(a.Topic), kgo.ConsumerGroup(a.Group), kgo.Balancers(balancer), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(500*time.Millisecond),
		kgo.OnPartitionsAssigned(h.change(true)), kgo.OnPartitionsRevoked(h.change(false)), kgo.OnPartitionsLost(h.change(false)))
	for ctx.Err() == nil {
		fetches := c.PollFetches(ctx)
		if ctx.Err() != nil {
			break
		}
		fetches.EachError(func(_ string, _ int32, err error) { must(err) })
		if fetches.NumRecords() == 0 {
			continue
		}
		next := map[int32]int64{}
		fetches.EachRecord(func(r *kgo.Record) { emitRecord(r); next[r.Partition] = r.Offset + 1 })
		must(c.CommitUncommittedOffsets(ctx))
		for partition, offset := range next {
			emit("committed", map[string]any{"partition": partition, "offset": offset})
		}
	}
	c.Close()
}

func main() {
	verbs := map[string]func(context.Context, string, arguments){"create": create, "produce": produce, "consume": consume, "member": member}
	var a arguments
	must(json.Unmarshal([]byte(os.Args[3]), &a))
	verbs[os.Args[1]](context.Background(), os.Args[2], a)
	emit("done", nil)
}
