import type { Cluster } from './cluster.ts'

/**
 * Keeps requests back until the connection to their node stands, so that nobody is bound to a node that cannot be
 * reached: meanwhile the partition may get another leader.
 */
export class NodeGate {
  readonly #cluster: Cluster
  readonly #lane: string
  readonly #changed: () => void
  readonly #connecting = new Set<number>()

  /** `changed` runs when a connection stands, or could not be made. */
  constructor(cluster: Cluster, lane: string, changed: () => void) {
    this.#cluster = cluster
    this.#lane = lane
    this.#changed = changed
  }

  /** Whether a request to the node leaves at once; if not, the connection is being made. */
  isOpen(nodeId: number): boolean {
    if (this.#cluster.isConnected(nodeId, this.#lane)) return true
    if (this.#connecting.has(nodeId)) return false
    this.#connecting.add(nodeId)
    const over = () => {
      this.#connecting.delete(nodeId)
      this.#changed()
    }
    this.#cluster.channelTo(nodeId, { lane: this.#lane }).then(over, over)
    return false
  }
}
