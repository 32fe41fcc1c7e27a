package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const retryEvery = 10 * time.Millisecond

// impatient is a client that tries everything again after 10 ms, for as long as it takes.
func (w *workload) impatient(options ...kgo.Opt) *kgo.Client {
	again := func(int) time.Duration { return retryEvery }
	return w.connect(append(options, kgo.RetryBackoffFn(again), kgo.RequestRetries(1<<30), kgo.MetadataMinAge(retryEvery), kgo.MetadataMaxAge(time.Second),
		kgo.RetryTimeout(w.limit), kgo.UnknownTopicRetries(-1), kgo.ProducerLinger(0))...)
}

// awaitPort returns when something listens, so that what comes before a broker's socket costs no client's back-off.
func awaitPort(ctx context.Context, address string) {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		must(sleep(ctx, retryEvery))
	}
}

// first is the clock for a start: from nothing to a record written by a client and read back by it.
func first(ctx context.Context, w *workload) result {
	awaitPort(ctx, strings.Split(w.bootstrap, ",")[0])
	client := w.impatient(kgo.DefaultProduceTopic(w.topic))
	defer client.Close()
	admin := kadm.NewClient(client)
	for {
		_, err := admin.CreateTopic(ctx, 1, 1, nil, w.topic)
		if err == nil || errors.Is(err, kerr.TopicAlreadyExists) {
			break
		}
		must(sleep(ctx, retryEvery))
	}
	// Not before the topic is there: franz-go waits for a second before it looks again for offsets of an unknown one.
	client.AddConsumePartitions(map[string]map[int32]kgo.Offset{w.topic: {0: kgo.NewOffset().At(0)}})
	must(client.ProduceSync(ctx, &kgo.Record{Value: []byte("first")}).FirstErr())
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			must(fmt.Errorf("no record came: %w", ctx.Err()))
		}
		if fetches.NumRecords() > 0 {
			return result{"at_unix_ms": unixMillis()}
		}
	}
}

// write is the clock for a restart: from nothing to the next acknowledged record.
func write(ctx context.Context, w *workload) result {
	awaitPort(ctx, strings.Split(w.bootstrap, ",")[0])
	client := w.impatient()
	defer client.Close()
	must(client.ProduceSync(ctx, &kgo.Record{Topic: w.names()[0], Value: []byte("next")}).FirstErr())
	return result{"at_unix_ms": unixMillis()}
}

func unixMillis() float64 {
	return float64(time.Now().UnixMicro()) / 1000
}
