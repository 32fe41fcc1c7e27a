import { DiskError } from '../../io/disk.ts'
import { type BrokerParts, brokerState } from './broker-parts.ts'

const closeLingerMs = 1000

/**
 * Stops in good order. Answers whether all could be put in order: not when the broker fails, before or meanwhile, and then no
 * directory is marked clean.
 */
export async function stopParts(parts: BrokerParts): Promise<boolean> {
  parts.state = brokerState.shuttingDown
  if (parts.failure === undefined) await parts.registration?.shutDown()
  parts.registration?.stop()
  await parts.server?.stopAccepting()
  parts.groups?.closeAll()
  parts.partitions?.closeAll()
  parts.server?.closeConnections(closeLingerMs)
  await parts.compactor?.close()
  await parts.metadata?.close()
  const problems = parts.failure === undefined ? await closeLogs(parts) : await giveUpLogs(parts)
  parts.deadlines.close()
  parts.state = brokerState.notRunning
  if (parts.failure !== undefined) problems.push('the broker has failed')
  if (problems.length === 0) return true
  parts.io.log.write(
    'error',
    `not all could be put in order: ${problems.join('; ')}. The next start looks for it, as after a kill.`,
  )
  return false
}

async function closeLogs(parts: BrokerParts): Promise<string[]> {
  try {
    const metadataProblem = await closeMetadataLog(parts)
    const problems = metadataProblem === undefined ? [] : [metadataProblem]
    const brokerEpoch = parts.registration?.brokerEpoch ?? -1
    if (parts.logs === undefined) releaseClaims(parts)
    else problems.push(...(await parts.logs.close({ brokerEpoch, mayMark: () => parts.failure === undefined })))
    return problems
  } catch (error) {
    parts.fail(error instanceof Error ? error : new Error(String(error)))
    return []
  }
}

/** Nothing more is written. */
async function giveUpLogs(parts: BrokerParts): Promise<string[]> {
  const { metadataLog, logs } = parts
  await metadataLog?.giveUp()
  if (logs === undefined) releaseClaims(parts)
  else await logs.giveUp()
  return []
}

function releaseClaims({ claims }: BrokerParts): void {
  for (const { directory, lock } of claims) {
    directory.close()
    lock.release()
  }
}

/** Undefined when that has succeeded. */
async function closeMetadataLog({ metadataLog }: BrokerParts): Promise<string | undefined> {
  try {
    await metadataLog?.close()
    return undefined
  } catch (error) {
    if (!(error instanceof DiskError)) throw error
    return `the metadata log: ${error.message}`
  }
}
