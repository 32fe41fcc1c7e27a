import type net from 'node:net'

/** What is used of the object behind a socket of Node's, which has no documentation. Absent in a closed socket. */
export interface SocketHandle {
  /** -1 where there is none. */
  readonly fd: number
  /** All bytes that libuv was ever given to write. */
  readonly bytesWritten: number
  /** Bytes that wait in libuv, behind those that Node counts. */
  readonly writeQueueSize: number
}

/** Looked up at each use and never kept: a descriptor means another file once it is closed. */
export function handleOf(socket: net.Socket): SocketHandle | undefined {
  return (socket as unknown as { _handle: SocketHandle | null })._handle ?? undefined
}

/** Takes the handle out of an accepted socket, for a new one that reads differently; undefined when Node keeps it elsewhere. */
export function takeHandle(socket: net.Socket): SocketHandle | undefined {
  const handle = handleOf(socket)
  if (handle === undefined || typeof handle.fd !== 'number') return undefined
  ;(socket as unknown as { _handle: SocketHandle | null })._handle = null
  // Without a handle this closes nothing; it only takes the socket off its server's count.
  socket.destroy()
  return handle
}
