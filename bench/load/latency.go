package main

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const prSetTimerSlack = 29

// latency sends records at fixed moments and measures from the moment at which one was due, not from the moment at which
// it was sent: a broker that stalls its producer would otherwise not be asked while it stalls.
func latency(ctx context.Context, w *workload) result {
	consumer := w.connect(kgo.ConsumeTopics(w.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
	defer consumer.Close()
	readyToRead(ctx, consumer)
	w.linger = 0
	producer := w.producer()
	defer producer.Close()
	// The first record finds the leaders and opens the connections. It is empty, and so it does not count.
	must(producer.ProduceSync(ctx, &kgo.Record{}).FirstErr())
	run := &latencyRun{workload: w, total: int(w.rate * (w.warmUp + w.duration).Seconds())}
	run.start = time.Now()
	var wait sync.WaitGroup
	wait.Go(func() { run.receive(ctx, consumer) })
	before := run.send(ctx, producer)
	wait.Wait()
	report := w.report(int64(len(run.ends)), int64(len(run.ends)*w.size), (time.Since(run.start) - w.warmUp).Seconds(), before)
	report["end_to_end_ms"] = quantiles(run.ends)
	report["acknowledged_ms"] = quantiles(run.acknowledged)
	report["late_ms"] = quantiles(run.late)
	return report
}

type latencyRun struct {
	*workload
	start time.Time
	total int
	ends  []time.Duration
	mutex sync.Mutex
	// acknowledged is appended to by the producer's callbacks, under the mutex.
	acknowledged []time.Duration
	// late is the generator's own share: how long after the due moment the send began.
	late []time.Duration
}

// readyToRead returns when the consumer has found the ends of the partitions: what is sent from now on reaches it.
func readyToRead(ctx context.Context, consumer *kgo.Client) {
	found, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	consumer.PollFetches(found)
}

func (r *latencyRun) receive(ctx context.Context, consumer *kgo.Client) {
	for seen := 0; seen < r.total; {
		fetches := consumer.PollFetches(ctx)
		must(fetches.Err())
		now := time.Since(r.start)
		fetches.EachRecord(func(record *kgo.Record) {
			if len(record.Value) == 0 {
				return
			}
			seen++
			if due := time.Duration(binary.BigEndian.Uint64(record.Value)); due >= r.warmUp {
				r.ends = append(r.ends, now-due)
			}
		})
	}
}

// send returns what the brokers had used when the warm-up was over.
func (r *latencyRun) send(ctx context.Context, producer *kgo.Client) (before usage) {
	body := payloads(1, r.size)[0]
	gap := time.Duration(float64(time.Second) / r.rate)
	// Go's own sleep can be late by more than the broker takes; the kernel's on a thread of our own is not.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, 1, 0)
	warm := true
	for i := range r.total {
		due := time.Duration(i) * gap
		sleepUntil(r.start.Add(due))
		if warm && due >= r.warmUp {
			before, warm = r.measure(), false
		}
		if !warm {
			r.late = append(r.late, time.Since(r.start)-due)
		}
		value := slices.Clone(body)
		binary.BigEndian.PutUint64(value, uint64(due))
		producer.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			must(err)
			if took := time.Since(r.start) - due; due >= r.warmUp {
				r.mutex.Lock()
				r.acknowledged = append(r.acknowledged, took)
				r.mutex.Unlock()
			}
		})
	}
	must(producer.Flush(ctx))
	return before
}

func sleepUntil(moment time.Time) {
	if wait := time.Until(moment); wait > 0 {
		pause := syscall.NsecToTimespec(int64(wait))
		_ = syscall.Nanosleep(&pause, nil)
	}
}

// quantiles in milliseconds.
func quantiles(times []time.Duration) map[string]float64 {
	slices.Sort(times)
	at := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))].Microseconds()) / 1000 }
	return map[string]float64{"p50": at(0.5), "p99": at(0.99), "p999": at(0.999), "max": at(1)}
}
