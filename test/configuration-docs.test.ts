import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { configurationDocs } from '../scripts/configuration-docs.ts'
import { brokerSettings } from '../src/config/broker-settings.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { brokerSettingsOf, topicSettings } from '../src/config/topic-settings.ts'

test('docs/configuration.md is what the declarations say (node scripts/configuration-docs.ts writes it)', () => {
  assert.equal(readFileSync('docs/configuration.md', 'utf8'), configurationDocs())
})

const probes = [
  ...['', 'x', 'x:1', 'a:b:c', 'a,b', '-0.5', '0.5'],
  ...[-(2 ** 31), -2, -1, 0, 1, 2, 5, 1_000_000, 2 ** 31 - 1].map(String),
]

test('where rules across settings refuse what a type allows, the docs say so', () => {
  const silent: string[] = []
  for (const setting of Object.values(brokerSettings)) {
    const said = probes.filter(
      text => setting.parse(text).type === 'parsed' && isSaidToBeAllowed(setting.allowed, text),
    )
    const refused = said.filter(text => !isTaken(setting.name, text))
    if (refused.length > 0)
      silent.push(`${setting.name}: "${refused.join('", "')}" refused, allowed: ${setting.allowed}`)
  }
  assert.deepEqual(silent, [])
})

function isTaken(name: string, text: string): boolean {
  return loadConfig({ overrides: [`${name}=${text}`], environment: {} }).type === 'loaded'
}

const bounds = /^a (?:whole )?number(?: of at least (-?\d+)| from (-?\d+) to (\d+))?(?:, or (-?\d+))?$/

/** As far as a text says no more than a type and its bounds; one that says more speaks of the rule. */
function isSaidToBeAllowed(allowed: string, text: string): boolean {
  const found = bounds.exec(allowed)
  if (found === null) return /^(a text|a list with commas between(, at least one)?)$/.test(allowed)
  const [, least, from, to, or] = found
  const value = Number(text)
  const isAbove = value >= Number(least ?? from ?? Number.NEGATIVE_INFINITY)
  return (isAbove && value <= Number(to ?? Number.POSITIVE_INFINITY)) || text === or
}

test('every setting is read by something, or says that it has no effect', () => {
  const files = globSync('src/**/*.ts').filter(file => !/(\.test|src\/config\/[a-z-]+-settings)\.ts$/.test(file))
  const text = files.map(file => readFileSync(file, 'utf8')).join('\n')
  const isRead = (property: string, name: string) =>
    new RegExp(`[.{,]\\s*${property}\\b`).test(text) || text.includes(`'${name}'`)
  const ofTopics = Object.entries(topicSettings).filter(([property, { name }]) => isRead(property, name))
  const standIns = new Set(ofTopics.flatMap(([, { name }]) => (brokerSettingsOf.get(name) ?? []).map(one => one.name)))
  const unread = Object.entries(brokerSettings)
    .filter(
      ([property, { name, noEffect }]) => noEffect === undefined && !isRead(property, name) && !standIns.has(name),
    )
    .map(([, { name }]) => name)
  assert.deepEqual(unread, [])
})
