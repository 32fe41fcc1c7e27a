/** Where Millrace means to leave something else than Kafka, and why. The reasons are in docs/kafka-compatibility.md. */
const deliberate: readonly { readonly where: RegExp; readonly what: RegExp; readonly reason: string }[] = []

export function deliberateReason(where: string, what: string): string | undefined {
  return deliberate.find(one => one.where.test(where) && one.what.test(what))?.reason
}
