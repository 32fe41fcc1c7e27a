/** Where Millrace means to leave something else than Kafka, and why. The reasons are in docs/kafka-compatibility.md. */
const deliberate: readonly { readonly where?: RegExp; readonly what: RegExp; readonly reason: string }[] = [
  {
    what: /^millrace keeps the base timestamp of /,
    reason: 'records that stay are copied as they are; the times they say are the same',
  },
  {
    what: /^at \d+: -1@-1, which is wrong instead of at \d+: \d+@\d+$/,
    where: /served|millrace on/,
    reason: 'Kafka looks for a time in one segment only: an emptied batch with a later time hides what comes after it',
  },
  {
    what: /^at \d+: \d+@\d+ instead of at \d+: -1@-1, which is wrong$/,
    where: /kafka on/,
    reason: 'the same',
  },
]

export function deliberateReason(where: string, what: string): string | undefined {
  return deliberate.find(one => (one.where?.test(where) ?? true) && one.what.test(what))?.reason
}
