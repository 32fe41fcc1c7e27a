package main

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// recreate gives the topics empty. Deleting is not instant, so creation is tried until the old one is gone.
func recreate(ctx context.Context, w *workload) result {
	start := time.Now()
	remove(ctx, w)
	admin := kadm.NewClient(w.connect())
	defer admin.Close()
	admin.SetTimeoutMillis(120_000)
	for _, name := range w.names() {
		for {
			created, err := admin.CreateTopic(ctx, int32(w.partitions), -1, nil, name)
			if err == nil && created.Err == nil {
				break
			}
			if !errors.Is(err, kerr.TopicAlreadyExists) {
				must(err)
			}
			must(sleep(ctx, 50*time.Millisecond))
		}
	}
	awaitLeaders(ctx, w, admin)
	return result{"topics": w.topics, "partitions": w.partitions, "seconds": time.Since(start).Seconds()}
}

// awaitLeaders returns when every partition answers for itself: Kafka says that a topic is created before it serves it.
func awaitLeaders(ctx context.Context, w *workload, admin *kadm.Client) {
	for {
		ends, err := admin.ListEndOffsets(ctx, w.names()...)
		served := 0
		ends.Each(func(end kadm.ListedOffset) {
			if end.Err == nil {
				served++
			}
		})
		if err == nil && served == w.topics*w.partitions {
			return
		}
		must(sleep(ctx, 20*time.Millisecond))
	}
}

func remove(ctx context.Context, w *workload) result {
	start := time.Now()
	admin := kadm.NewClient(w.connect())
	defer admin.Close()
	deleted, err := admin.DeleteTopics(ctx, w.names()...)
	must(err)
	for _, each := range deleted {
		if each.Err != nil && !errors.Is(each.Err, kerr.UnknownTopicOrPartition) {
			must(each.Err)
		}
	}
	return result{"topics": w.topics, "seconds": time.Since(start).Seconds()}
}

// spread puts a record into each partition of each topic and waits for all of them.
func spread(ctx context.Context, w *workload) result {
	start := time.Now()
	client := w.connect(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.UnknownTopicRetries(-1), kgo.MaxBufferedRecords(100_000), kgo.ProducerLinger(50*time.Millisecond))
	defer client.Close()
	value := payloads(1, w.size)[0]
	for _, name := range w.names() {
		for partition := range w.partitions {
			client.Produce(ctx, &kgo.Record{Topic: name, Partition: int32(partition), Value: value}, func(_ *kgo.Record, err error) { must(err) })
		}
	}
	must(client.Flush(ctx))
	records := int64(w.topics * w.partitions)
	return w.report(records, records*int64(w.size), time.Since(start).Seconds(), usage{})
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
