package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// ticks a second in /proc/PID/stat, on every Linux that Go runs on.
const ticks = 100

// usage is what the brokers have taken since they started, and hold now.
type usage struct {
	cpuSeconds float64
	rssMiB     float64
}

// measure sums over the brokers. Without -pids it is all zero.
func (w *workload) measure() (sum usage) {
	for _, pid := range strings.FieldsFunc(w.pids, func(r rune) bool { return r == ',' }) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		must(err)
		// The command's name, in parentheses, may hold anything: what is counted comes after it.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		number := func(i int) float64 {
			value, err := strconv.ParseFloat(fields[i], 64)
			must(err)
			return value
		}
		sum.cpuSeconds += (number(11) + number(12)) / ticks
		sum.rssMiB += number(21) * float64(os.Getpagesize()) / (1 << 20)
	}
	return
}

// report says how fast it went, and what it cost the brokers.
func (w *workload) report(records, bytes int64, seconds float64, before usage) result {
	r := result{
		"records": records, "bytes": bytes, "seconds": seconds,
		"records_per_s": float64(records) / seconds, "mb_per_s": float64(bytes) / 1e6 / seconds,
	}
	if w.pids != "" {
		after := w.measure()
		r["broker_cpu_s"] = after.cpuSeconds - before.cpuSeconds
		r["broker_cpu_s_per_gb"] = (after.cpuSeconds - before.cpuSeconds) / (float64(bytes) / 1e9)
		r["broker_rss_mib"] = after.rssMiB
	}
	return r
}
