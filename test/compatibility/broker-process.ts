import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Patience } from './patience.ts'

/** A broker (or a small cluster) in processes of its own, whoever wrote it. */
export interface BrokerProcess extends AsyncDisposable {
  readonly name: string
  /** host:port[,host:port] for clients. */
  readonly bootstrap: string
  /** Process ids of the brokers while they run. */
  readonly pids: readonly number[]
  /** The log directory of each broker: topic folders lie directly in it. */
  readonly logDirs: readonly string[]
  /** What the first broker printed since it was last started. */
  output(): string
  /** Ends the brokers and resolves when they are gone. The data stays. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /**
   * Starts them again on the same ports and the same data. Resolves when clients can connect, or with `ready: false` as
   * soon as the processes are there, for those who measure the rest.
   */
  restart(options?: { readonly ready?: boolean }): Promise<void>
}

/** A file to which a child can write its output. Starts empty, so that nobody mistakes an earlier run's lines for this one's. */
export function openLog(path: string): number {
  return openSync(path, 'w')
}

/** The last lines of what a broker printed. */
export function tail(output: string, lines = 20): string {
  return output.trimEnd().split('\n').slice(-lines).join('\n')
}

/** Asks every few milliseconds. `what` names what is waited for when it does not come. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { timeoutMs = 60_000, everyMs = 20 }: { readonly timeoutMs?: number; readonly everyMs?: number } = {},
): Promise<void> {
  using patience = new Patience(timeoutMs)
  while (!(await holds())) {
    if (patience.isOver) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await pause(everyMs)
  }
}

/** Whether something accepts connections there. */
export async function accepts(address: string): Promise<boolean> {
  const colon = address.lastIndexOf(':')
  const socket = connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)) })
  return await new Promise(resolve => {
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Resolves when the process is gone. One that ignores the polite signal for a minute gets the other. */
export async function endChild(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await gone
  clearTimeout(timer)
}
