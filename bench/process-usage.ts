import { readFileSync } from 'node:fs'

/** Clock ticks of a second, which Linux tells programs: 100 everywhere. */
const ticksPerSecond = 100
const kibibyte = 1024

/** What a process has used so far, from /proc. */
export interface ProcessUsage {
  readonly atMs: number
  readonly cpuSeconds: number
  /** By any way: files, sockets. */
  readonly readBytes: number
}

export function usageOf(pid: number): ProcessUsage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const readBytes = Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])
  return {
    atMs: performance.now(),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    readBytes,
  }
}

/** The most that was ever resident, in bytes. */
export function peakResidentBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * kibibyte
}
