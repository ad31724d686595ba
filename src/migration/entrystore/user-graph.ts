import type { Statement } from '../../graph/graph.ts'
import { store } from '../../graph/vocabulary.ts'
import { principalUri } from '../../model/addresses.ts'
import { GUEST } from '../../accounts/users.ts'
import type { Report } from './report.ts'

/** The facts that only the resource graph of a user may state. */
interface ReadUser {
  /** `base64salt$base64key`, PBKDF2 as EntryStore stores it. */
  readonly hash: string | undefined
  /** A password in plain text, from before 2013. It must be hashed, and never written. */
  readonly plainSecret: string | undefined
  readonly language: string | undefined
  readonly disabled: boolean
  readonly homeContextUri: string | undefined
  readonly customProperties: Readonly<Record<string, string>>
}

const es = {
  saltedHashedSecret: store.term('saltedHashedSecret'),
  secret: store.term('secret'),
  language: store.term('language'),
  disabled: store.term('disabled'),
  externalID: store.term('externalID'),
  customProperty: store.term('customProperty'),
  customPropertyKey: store.term('customPropertyKey'),
  customPropertyValue: store.term('customPropertyValue'),
} as const

const EXTERNAL_ID = 'externalid'
/** A salt of 16 bytes and a key of 24, both in Base64. */
const HASH = /^[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{32}$/

/** @param statements of the graph of this user's resource only */
export function readUserGraph(
  id: string,
  name: string | undefined,
  statements: readonly Statement[],
  report: Report,
): ReadUser {
  const user = principalUri(id)
  const who = name === undefined ? id : `${id} (${name})`
  const values = new Map<string, string[]>()
  const properties: Array<readonly [key: string, value: string]> = []
  const nodes = new Map<string, { key?: string; value?: string; quads: number }>()
  const owned = new Set<string>()
  for (const { subject, predicate, object } of statements) {
    const isOwn = subject === user
    if (isOwn && predicate === es.customProperty && object.type === 'bnode') owned.add(object.value)
    else if (!isOwn && (predicate === es.customPropertyKey || predicate === es.customPropertyValue)) {
      const node = nodes.get(subject) ?? { quads: 0 }
      nodes.set(subject, node)
      node.quads++
      if (predicate === es.customPropertyKey) node.key = object.value
      else node.value = object.value
      continue
    } else if (isOwn && isUserProperty(predicate)) {
      values.set(predicate, [...(values.get(predicate) ?? []), object.value])
    } else {
      report.drop('unknown-statement', `user ${who}: ${predicate}`)
      continue
    }
    report.imported(1)
  }
  for (const [node, { key, value, quads }] of nodes) {
    if (!owned.has(node) || key === undefined || value === undefined) {
      report.drop('bad-value', `user ${who}: a custom property that is not complete`, quads)
      continue
    }
    report.imported(quads)
    properties.push([key.toLowerCase(), value])
  }
  const one = (predicate: string): string | undefined => {
    const found = [...(values.get(predicate) ?? [])].sort()
    if (found.length > 1)
      report.note('several-values', `user ${who}: ${predicate.slice(predicate.lastIndexOf('/') + 1)}`)
    return found[0]
  }
  const customProperties = joined(properties, who, report)
  addExternalId(customProperties, one(es.externalID), who, report)
  return {
    ...(id === GUEST
      ? { hash: undefined, plainSecret: undefined }
      : passwordOf(one(es.saltedHashedSecret), one(es.secret), who, report)),
    language: languageOf(one(es.language), who, report),
    disabled: isTrue(one(es.disabled)),
    homeContextUri: one(store.homeContext),
    customProperties: Object.fromEntries(customProperties),
  }
}

const userProperties: ReadonlySet<string> = new Set([
  es.saltedHashedSecret,
  es.secret,
  es.language,
  es.disabled,
  es.externalID,
  store.homeContext,
])
const isUserProperty = (predicate: string): boolean => userProperties.has(predicate)

const isTrue = (text: string | undefined): boolean => text !== undefined && /^(true|1)$/i.test(text.trim())

function passwordOf(stored: string | undefined, secret: string | undefined, who: string, report: Report) {
  // The encoder of the earliest versions ended its lines.
  const hash = stored
    ?.split('$')
    .map(half => half.trim())
    .join('$')
  if (hash !== undefined && HASH.test(hash)) return { hash, plainSecret: undefined }
  if (hash !== undefined) report.note('unknown-hash', `user ${who}`)
  const isUsable = hash === undefined && secret !== undefined && secret !== ''
  if (isUsable) report.note('plain-secret', `user ${who}`)
  return { hash: undefined, plainSecret: isUsable ? secret : undefined }
}

function languageOf(text: string | undefined, who: string, report: Report): string | undefined {
  const language = text?.trim()
  if (language === undefined || language === '') return undefined
  if (/^[A-Za-z]{1,8}([-_][A-Za-z0-9]{1,8})*$/.test(language)) return language
  report.note('bad-value', `user ${who}: language`)
  return undefined
}

/** By key, then value, so that the same backup has the same result in every format. */
function joined(
  properties: ReadonlyArray<readonly [string, string]>,
  who: string,
  report: Report,
): Map<string, string> {
  const sorted = [...properties].sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
  const map = new Map<string, string>()
  for (const [key, value] of sorted) {
    if (map.has(key)) report.note('custom-key-collision', `user ${who}: ${key}`)
    map.set(key, value)
  }
  return map
}

function addExternalId(properties: Map<string, string>, raw: string | undefined, who: string, report: Report): void {
  if (raw === undefined) return
  const id = raw.slice(raw.lastIndexOf('mailto:') + (raw.includes('mailto:') ? 'mailto:'.length : 1))
  if (properties.has(EXTERNAL_ID)) return report.note('custom-key-collision', `user ${who}: ${EXTERNAL_ID}`)
  properties.set(EXTERNAL_ID, id)
  report.note('external-id-moved', `user ${who}`)
}
