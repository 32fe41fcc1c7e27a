import { ErrorCode } from '../../base/error-code.ts'
import { ResourceType } from '../../core/metadata/metadata-image.ts'
import type { BrokerServices } from '../services.ts'

interface Resource {
  readonly resourceType: number
  readonly resourceName: string
}

interface Outcome extends Resource {
  readonly errorCode: ErrorCode
  readonly errorMessage: string | null
}

/**
 * Settings are altered by the controller, but what is wrong with a resource itself is said here: a resource that is named
 * twice, or a broker that is not this one, which only that broker may alter. Results come in the order of the request.
 */
export async function alterResources<R extends Resource>(
  services: BrokerServices,
  resources: readonly R[],
  alter: (good: readonly R[]) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> {
  const times = new Map<string, number>()
  for (const resource of resources) times.set(keyOf(resource), (times.get(keyOf(resource)) ?? 0) + 1)
  const refusals = resources.map(resource =>
    times.get(keyOf(resource)) === 1 ? brokerProblem(services, resource) : 'Each resource must appear at most once.',
  )
  const good = resources.filter((_, index) => refusals[index] === undefined)
  const outcomes = new Map((await alter(good)).map(outcome => [keyOf(outcome), outcome]))
  return resources.flatMap((resource, index) => {
    const { resourceType, resourceName } = resource
    const errorMessage = refusals[index]
    if (errorMessage !== undefined) {
      return [{ errorCode: ErrorCode.invalidRequest, errorMessage, resourceType, resourceName }]
    }
    return outcomes.get(keyOf(resource)) ?? []
  })
}

function keyOf({ resourceType, resourceName }: Resource): string {
  return `${resourceType} ${resourceName}`
}

/** The empty name stands for all brokers. */
function brokerProblem({ nodeId }: BrokerServices, { resourceType, resourceName }: Resource): string | undefined {
  if (resourceType !== ResourceType.broker || resourceName === '' || resourceName === String(nodeId)) return undefined
  if (!/^-?\d+$/.test(resourceName)) return `Node id must be an integer, but it is: ${resourceName}`
  return `Unexpected broker id, expected ${nodeId}, but received ${resourceName}`
}
