import { type BrokerParts, brokerState } from './broker-parts.ts'

const closeLingerMs = 1000

/** Stops in good order. Answers whether all could be put in order. */
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
  const isClean = await closeLogs(parts)
  parts.deadlines.close()
  parts.state = brokerState.notRunning
  return isClean
}

async function closeLogs(parts: BrokerParts): Promise<boolean> {
  const metadataProblem = await closeMetadataLog(parts)
  const problems = metadataProblem === undefined ? [] : [metadataProblem]
  if (parts.logs !== undefined) {
    problems.push(...(await parts.logs.close({ brokerEpoch: parts.registration?.brokerEpoch ?? -1 })))
  } else {
    for (const { directory, lock } of parts.claims) {
      directory.close()
      lock.release()
    }
  }
  if (problems.length === 0) return true
  parts.io.log.write(
    'error',
    `not all could be put in order: ${problems.join('; ')}. The next start looks for it, as after a kill.`,
  )
  return false
}

/** Undefined when that has succeeded. */
async function closeMetadataLog(parts: BrokerParts): Promise<string | undefined> {
  try {
    await parts.metadataLog?.close()
    return undefined
  } catch (error) {
    return `the metadata log: ${error instanceof Error ? error.message : String(error)}`
  }
}
