import { errorName } from '../../../base/error-code.ts'
import type { RequestMetrics } from '../../metrics/broker-metrics.ts'
import { counter, gauge, labels, type MetricFamily } from '../metric-family.ts'

const prefix = 'kafka_network_requestmetrics'
const quantiles = [0.5, 0.75, 0.95, 0.98, 0.99, 0.999]

export const requestFamilies: readonly MetricFamily[] = [
  counter(`${prefix}_requests_total`, 'Requests answered.', function* ({ source }) {
    for (const [request, one] of source.counters.requests)
      for (const [version, count] of one.byVersion) yield [labels({ request, version }), count]
  }),
  counter(`${prefix}_errors_total`, 'Answers by error.', function* ({ source }) {
    for (const [request, one] of source.counters.requests)
      for (const [code, count] of one.byError) yield [labels({ request, error: errorName(code) }), count]
  }),
  gauge(`${prefix}_totaltimems`, 'Milliseconds from the last byte of a request to its answer.', function* ({ source }) {
    for (const [request, one] of source.counters.requests)
      for (const quantile of quantiles)
        yield [labels({ request, quantile: String(quantile) }), one.totalTimeMs.quantile(quantile)]
  }),
  total('totaltimems_count', 'Requests that were timed.', one => one.totalTimeMs.count),
  total('requestbytes_total', 'Bytes of requests.', one => one.requestBytes),
  total('responsebytes_total', 'Bytes of answers.', one => one.responseBytes),
]

function total(name: string, help: string, value: (one: RequestMetrics) => number): MetricFamily {
  return counter(`${prefix}_${name}`, help, function* ({ source }) {
    for (const [request, one] of source.counters.requests) yield [labels({ request }), value(one)]
  })
}
