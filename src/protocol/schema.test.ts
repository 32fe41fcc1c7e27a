import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { zeroUuid } from '../base/uuid.ts'
import { apiMessages, otherMessages } from './all-messages.ts'
import { ApiKey, advertisedMinVersion, apiOf, apis } from './apis.ts'
import { layoutOf } from './layout.ts'
import type { Field, Fields, Message } from './schema.ts'
import { includesVersion, parseVersions } from './versions.ts'

/** A definition of Kafka 4.4 as its facts were written down, in the words of Kafka's own schema files. */
interface Fact {
  readonly apiKey?: number
  readonly name: string
  readonly type: string
  readonly validVersions: string
  readonly flexibleVersions: string
  readonly fields: readonly FieldFact[]
  readonly commonStructs?: readonly { readonly name: string; readonly fields: readonly FieldFact[] }[]
}
interface FieldFact {
  readonly name: string
  readonly type: string
  readonly versions?: string
  readonly nullableVersions?: string
  readonly taggedVersions?: string
  readonly tag?: number
  readonly default?: string | number | boolean | null
  readonly ignorable?: true
  readonly flexibleVersions?: string
  readonly fields?: readonly FieldFact[]
}

function fixture(name: string): string {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
}

const facts: readonly Fact[] = [...JSON.parse(fixture('messages.json')), ...JSON.parse(fixture('records.json'))]
const messages: readonly Message[] = [...apiMessages.flatMap(api => [api.request, api.response]), ...otherMessages]
const byName = new Map(messages.map(message => [message.name, message]))

const versionsOf = (fact: FieldFact) => fact.versions ?? fact.taggedVersions

function camel(name: string): string {
  return name.startsWith('KRaft') ? `kraft${name.slice(5)}` : name[0].toLowerCase() + name.slice(1)
}

test('there is a schema for each of Kafka’s messages and records, and for nothing else', () => {
  assert.deepEqual([...byName.keys()].sort(), [...new Set(facts.map(fact => fact.name))].sort())
})

test('messages have Kafka’s keys and versions', () => {
  for (const fact of facts) {
    const message = byName.get(fact.name)!
    const { from, to } = parseVersions(fact.validVersions)
    assert.deepEqual([message.minVersion, message.maxVersion], [from, to], fact.name)
    assert.equal(message.flexibleFrom, parseVersions(fact.flexibleVersions).from, fact.name)
    if (fact.type !== 'data') assert.equal(message.key, fact.apiKey ?? -1, fact.name)
  }
})

test('fields are Kafka’s, in name, type, order, null, tag and default, in every version', () => {
  for (const fact of facts) {
    const message = byName.get(fact.name)!
    for (let version = message.minVersion; version <= message.maxVersion; version++) {
      compareStruct(message.fields, fact.fields, { fact, version, path: `${fact.name} v${version}` })
    }
  }
})

interface At {
  readonly fact: Fact
  readonly version: number
  readonly path: string
}

function compareStruct(fields: Fields, expected: readonly FieldFact[], at: At): void {
  const { plain, tagged } = layoutOf(fields, at.version)
  const present = expected.filter(field => includesVersion(versionsOf(field), at.version))
  const isTagged = (field: FieldFact) => includesVersion(field.taggedVersions, at.version)
  const plainFacts = present.filter(field => !isTagged(field))
  const taggedFacts = present.filter(isTagged).sort((a, b) => a.tag! - b.tag!)
  assert.deepEqual(
    plain.map(([name]) => name),
    plainFacts.map(field => camel(field.name)),
    at.path,
  )
  assert.deepEqual(
    tagged.map(([name, , tag]) => [name, tag]),
    taggedFacts.map(field => [camel(field.name), field.tag]),
    at.path,
  )
  for (const field of expected) {
    const ours = fields[camel(field.name)]
    // A field of versions that the message no longer has may be missing.
    if (ours === undefined) assert.ok(!present.includes(field), `${at.path}.${field.name}`)
    else compareField(ours, field, { ...at, path: `${at.path}.${field.name}` })
  }
}

function compareField(field: Field, fact: FieldFact, at: At): void {
  const isList = fact.type.startsWith('[]')
  const elementType = fact.type.replace('[]', '')
  const isStruct = /^[A-Z]/.test(elementType)
  assert.equal(field.type === 'list', isList, at.path)
  if (!isStruct) {
    const ours = isList ? field.of : field.type
    assert.equal(ours === 'bigint64' ? 'int64' : ours, elementType, at.path)
  }
  assert.equal(field.options.ignorable === true, fact.ignorable === true, at.path)
  assert.equal(field.options.flexible, fact.flexibleVersions, at.path)
  assert.deepEqual(plainDefault(field), expectedDefault(fact, isList, isStruct), at.path)
  if (!includesVersion(versionsOf(fact), at.version)) return
  const nullable = includesVersion(field.options.nullable, at.version)
  assert.equal(nullable, includesVersion(fact.nullableVersions, at.version), at.path)
  if (!isStruct) return
  const inner = fact.fields ?? at.fact.commonStructs?.find(one => one.name === elementType)?.fields
  compareStruct(field.of as Fields, inner!, at)
}

function plainDefault(field: Field): unknown {
  const { default: value } = field.options
  if (value === undefined && (field.type === 'list' || field.type === 'struct')) return 'empty'
  if (value !== undefined) return typeof value === 'bigint' ? Number(value) : value
  if (field.type === 'string') return ''
  if (field.type === 'uuid') return zeroUuid
  if (field.type === 'bytes' || field.type === 'records') return 'empty'
  return field.type === 'bool' ? false : 0
}

function expectedDefault(fact: FieldFact, isList: boolean, isStruct: boolean): unknown {
  const value = fact.default
  if (value === 'null') return null
  if (isList || isStruct || fact.type === 'bytes' || fact.type === 'records') return 'empty'
  if (fact.type === 'string') return value ?? ''
  if (fact.type === 'uuid') return zeroUuid
  if (fact.type === 'bool') return String(value) === 'true'
  const number = Number(value ?? 0)
  return number === 2 ** 63 ? Number.POSITIVE_INFINITY : number
}

test('the table of APIs has Kafka’s keys, versions, listeners and header versions', () => {
  const rows = fixture('apis.tsv')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split('\t'))
  assert.equal(apis.length, rows.length)
  for (const [i, row] of rows.entries()) {
    const [key, name, min, max, maxUnstable, broker, controller, forwardable, requestHeader, responseHeader] = row
    const api = apis[i]
    assert.equal(api, apiOf(Number(key)))
    assert.deepEqual([api.key, api.name, api.minVersion, api.maxVersion], [Number(key), name, Number(min), Number(max)])
    assert.equal(api.listeners !== 'controller', broker === 'yes', name)
    assert.equal(api.listeners !== 'broker', controller === 'yes', name)
    assert.equal(api.isForwardable, forwardable === 'yes', name)
    const { request, response } = apiMessages[i]
    assert.deepEqual([request.name, response.name], [`${name}Request`, `${name}Response`])
    assert.deepEqual([request.minVersion, request.maxVersion], [Number(min), Number(maxUnstable)], name)
    assert.deepEqual([response.minVersion, response.maxVersion], [Number(min), Number(maxUnstable)], name)
    assert.deepEqual([request.flexibleFrom, response.flexibleFrom], [api.flexibleFrom, api.flexibleFrom], name)
    const flexible = /v(\d+)\+:h2/.exec(requestHeader)?.[1]
    const from = Math.max(api.flexibleFrom, api.minVersion)
    assert.equal(from, flexible === undefined ? Number.POSITIVE_INFINITY : Number(flexible), name)
    const flexibleAnswer = /v(\d+)\+:h1/.exec(responseHeader)?.[1]
    if (api.key !== ApiKey.apiVersions) assert.equal(flexibleAnswer, flexible, name)
  }
})

test('keys that are reserved, unknown or out of range belong to no API', () => {
  for (const key of [-1, 4, 5, 6, 7, 95, 32767]) assert.equal(apiOf(key), undefined)
  assert.equal(Object.keys(ApiKey).length, 95)
})

test('only Produce is advertised from a version it has no bodies for', () => {
  assert.equal(advertisedMinVersion(apiOf(ApiKey.produce)!), 0)
  assert.equal(advertisedMinVersion(apiOf(ApiKey.fetch)!), 4)
})
