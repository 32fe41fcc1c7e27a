/** Numbers of ACL operations (formats.md section 9). */
const operation = {
  read: 3,
  write: 4,
  create: 5,
  delete: 6,
  alter: 7,
  describe: 8,
  clusterAction: 9,
  describeConfigs: 10,
  alterConfigs: 11,
  idempotentWrite: 12,
}

function bits(...operations: number[]): number {
  return operations.reduce((sum, one) => sum | (1 << one), 0)
}

/** What the wire says where operations were not asked for. */
export const operationsNotAsked = -2147483648

/** Without an authoriser everybody may do everything that a resource of the kind supports. As bits of an int32. */
export const groupOperations = bits(
  operation.read,
  operation.delete,
  operation.describe,
  operation.describeConfigs,
  operation.alterConfigs,
)
export const topicOperations = bits(
  operation.read,
  operation.write,
  operation.create,
  operation.delete,
  operation.alter,
  operation.describe,
  operation.describeConfigs,
  operation.alterConfigs,
)
export const clusterOperations = bits(
  operation.create,
  operation.alter,
  operation.describe,
  operation.clusterAction,
  operation.describeConfigs,
  operation.alterConfigs,
  operation.idempotentWrite,
)
