// load puts work on any Kafka broker and prints one JSON object for each run.
//
//	load topic   makes a topic anew, or several: -t load -topics 5 makes load-0 to load-4
//	load delete  deletes them
//	load produce sends -n records as fast as they are acknowledged
//	load consume reads -n records from the start, all partitions directly
//	load latency sends at -rate for -d after a warm-up and times each record from the moment it was due to its arrival at a consumer
//	load spread  puts one record into every partition of the topics
//	load first   tries every 10 ms until it has written a record and read it back; prints when that was
//	load write   tries every 10 ms until a record is acknowledged; prints when that was
//
// With -pids the CPU seconds and the resident memory of those processes, the brokers, are in the result.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// workload is what the command line asks for.
type workload struct {
	bootstrap  string
	topic      string
	topics     int
	partitions int
	records    int64
	size       int
	codec      string
	clients    int
	linger     time.Duration
	batch      int
	rate       float64
	duration   time.Duration
	warmUp     time.Duration
	pids       string
	limit      time.Duration
}

// result is printed as it is; a field that a mode does not fill stays out.
type result map[string]any

func main() {
	modes := map[string]func(context.Context, *workload) result{
		"topic": recreate, "delete": remove, "produce": produce, "consume": consume, "latency": latency, "spread": spread,
		"first": first, "write": write,
	}
	if len(os.Args) < 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: load topic|delete|produce|consume|latency|spread|first|write [flags]; load topic -h lists the flags")
		os.Exit(2)
	}
	w := readFlags(os.Args[2:])
	ctx, cancel := context.WithTimeout(context.Background(), w.limit)
	defer cancel()
	line, err := json.Marshal(modes[os.Args[1]](ctx, w))
	must(err)
	fmt.Println(string(line))
}

func readFlags(args []string) *workload {
	w := &workload{}
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	flags.StringVar(&w.bootstrap, "b", "127.0.0.1:9092", "bootstrap servers, comma separated")
	flags.StringVar(&w.topic, "t", "load", "topic")
	flags.IntVar(&w.topics, "topics", 1, "topics, named for -t and a number if there are several")
	flags.IntVar(&w.partitions, "partitions", 6, "partitions of each topic")
	flags.Int64Var(&w.records, "n", 100_000, "records, over all clients")
	flags.IntVar(&w.size, "size", 1024, "bytes of a record's value")
	flags.StringVar(&w.codec, "codec", "none", "none, gzip, snappy, lz4 or zstd")
	flags.IntVar(&w.clients, "clients", 1, "clients side by side, each with its own connections")
	flags.DurationVar(&w.linger, "linger", 5*time.Millisecond, "how long a producer waits for a fuller batch")
	flags.IntVar(&w.batch, "batch", 1_000_000, "bytes of a batch at most")
	flags.Float64Var(&w.rate, "rate", 1000, "latency: records a second")
	flags.DurationVar(&w.duration, "d", 30*time.Second, "latency: measured time")
	flags.DurationVar(&w.warmUp, "warm-up", 5*time.Second, "latency: time before that")
	flags.StringVar(&w.pids, "pids", "", "process ids of the brokers, comma separated")
	flags.DurationVar(&w.limit, "limit", 10*time.Minute, "give up after this long")
	must(flags.Parse(args))
	return w
}

// names of the topics that the workload is about.
func (w *workload) names() []string {
	if w.topics == 1 {
		return []string{w.topic}
	}
	names := make([]string, w.topics)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", w.topic, i)
	}
	return names
}

// connect makes a client that first asks the given servers.
func (w *workload) connect(options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(strings.Split(w.bootstrap, ",")...))...)
	must(err)
	return client
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
