package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	differentPayloads = 1024
	// bufferedBytes is what all producers together may hold unacknowledged.
	bufferedBytes   = 256 << 20
	bufferedRecords = 200_000
)

// payloads of one size, each different. Half of each is noise and half is text, so that they shrink to a little over half,
// as logs and JSON do.
func payloads(count, size int) [][]byte {
	const text = `{"level":"info","component":"checkout","message":"order accepted"}`
	random := rand.New(rand.NewPCG(1, 2))
	made := make([][]byte, count)
	for i := range made {
		made[i] = make([]byte, size)
		for j := range made[i] {
			if j < size/2 {
				made[i][j] = byte(' ' + random.IntN(95))
			} else {
				made[i][j] = text[j%len(text)]
			}
		}
	}
	return made
}

func (w *workload) codecOption() kgo.Opt {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	codec, known := codecs[w.codec]
	if !known {
		must(fmt.Errorf("no codec is called %q", w.codec))
	}
	return kgo.ProducerBatchCompression(codec)
}

// producer is idempotent with acks=all, which is franz-go's default as it is Kafka's.
func (w *workload) producer() *kgo.Client {
	return w.connect(w.codecOption(), kgo.DefaultProduceTopic(w.topic), kgo.ProducerLinger(w.linger), kgo.ProducerBatchMaxBytes(int32(w.batch)),
		kgo.MaxBufferedRecords(max(100, bufferedRecords/w.clients)), kgo.MaxBufferedBytes(max(1<<20, bufferedBytes/w.clients)))
}

func produce(ctx context.Context, w *workload) result {
	values := payloads(differentPayloads, w.size)
	clients := make([]*kgo.Client, w.clients)
	for i := range clients {
		clients[i] = w.producer()
		must(clients[i].Ping(ctx)) // connected before the clock starts
		defer clients[i].Close()
	}
	var acknowledged atomic.Int64
	var wait sync.WaitGroup
	before, start := w.measure(), time.Now()
	for i, client := range clients {
		share := w.records / int64(w.clients)
		wait.Go(func() {
			for n := range share {
				record := &kgo.Record{Value: values[(n+int64(i))%differentPayloads]}
				client.Produce(ctx, record, func(_ *kgo.Record, err error) {
					must(err)
					acknowledged.Add(1)
				})
			}
			must(client.Flush(ctx))
		})
	}
	wait.Wait()
	records := acknowledged.Load()
	return w.report(records, records*int64(w.size), time.Since(start).Seconds(), before)
}
