package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// fetchBytes is what all consumers together may have under way.
const fetchBytes = 256 << 20

// consume reads from the start of every partition. Each of several clients reads its share of -n records, the same ones.
func consume(ctx context.Context, w *workload) result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var records, bytes atomic.Int64
	var wait sync.WaitGroup
	atOnce := int32(min(50<<20, max(64<<10, fetchBytes/w.clients)))
	limits := []kgo.Opt{kgo.FetchMaxBytes(atOnce), kgo.FetchMaxPartitionBytes(min(1<<20, atOnce))}
	before, start := w.measure(), time.Now()
	for range w.clients {
		wait.Go(func() {
			client := w.connect(append(limits, kgo.ConsumeTopics(w.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
			defer client.Close()
			for own := int64(0); own < w.records/int64(w.clients); {
				fetches := client.PollFetches(ctx)
				must(fetches.Err())
				count, size := countOf(fetches)
				own += count
				records.Add(count)
				bytes.Add(size)
			}
		})
	}
	wait.Wait()
	return w.report(records.Load(), bytes.Load(), time.Since(start).Seconds(), before)
}

func countOf(fetches kgo.Fetches) (records, bytes int64) {
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		records += int64(len(p.Records))
		for _, r := range p.Records {
			bytes += int64(len(r.Value))
		}
	})
	return
}
