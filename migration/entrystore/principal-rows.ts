import { GUEST, USERS } from '../../src/accounts/users.ts'
import type { Statement } from '../../src/graph/graph.ts'
import { addressIn, contextIdOf, type EntryAddress, PRINCIPALS, principalUri } from '../../src/model/addresses.ts'
import { placeOf, type ReadEntry } from './entry-graph.ts'
import type { Report } from './report.ts'
import type { RowTarget } from './row-sink.ts'
import type { Survey } from './survey.ts'
import { rdf, store } from '../../src/graph/vocabulary.ts'

/** Computes password hashes, on other threads. */
export interface PasswordHashing {
  hash(password: string): Promise<string>
  /** Wraps an old hash in argon2id; absent when old hashes are kept as they are. */
  readonly wrap: ((hash: string) => Promise<string>) | undefined
}

interface Dependencies {
  readonly rows: RowTarget
  readonly report: Report
  readonly survey: Survey
  readonly names: ReadonlyMap<string, string>
  readonly passwords: PasswordHashing
}

/** The number of users that are hashed at once; there are fewer threads. */
const AT_ONCE = 16

/** Writes the accounts for the entries of `_principals`. */
export class PrincipalRows {
  readonly #deps: Dependencies
  #pending: Array<Promise<void>> = []

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @param statements of the graph of the user's resource */
  async addUser({ entry, homeContextUri }: ReadEntry, statements: readonly Statement[]): Promise<void> {
    const { report, names } = this.#deps
    const user = readUserGraph(entry.id, names.get(entry.id), statements, report)
    report.count('users')
    const hasPassword = user.hash !== undefined || user.plainSecret !== undefined
    report.count(hasPassword ? 'users with a password' : 'users without a password')
    if (user.disabled) report.count('disabled users')
    const row = {
      id: entry.id,
      kind: 'user',
      name: names.get(entry.id) ?? null,
      disabled: user.disabled ? 1 : 0,
      language: user.language ?? null,
      home_context: this.#homeContext(entry.id, homeContextUri ?? user.homeContextUri) ?? null,
      custom_properties: JSON.stringify(user.customProperties),
    }
    this.#pending.push(
      this.#password(user.hash, user.plainSecret).then(password =>
        this.#deps.rows.add('principals', { ...row, password: password ?? null }),
      ),
    )
    if (this.#pending.length >= AT_ONCE) await this.finish()
  }

  /** @param statements of the graph of the group's resource */
  async addGroup({ entry, homeContextUri }: ReadEntry, statements: readonly Statement[]): Promise<void> {
    const { rows, report, survey, names } = this.#deps
    report.count('groups')
    await rows.add('principals', {
      id: entry.id,
      kind: 'group',
      name: names.get(entry.id) ?? null,
      home_context: this.#homeContext(entry.id, homeContextUri) ?? null,
    })
    const members = readMembers(principalUri(entry.id), statements, placeOf(entry), report)
    // All signed-in users are members of this group; its stored members have no meaning.
    if (entry.id === USERS) return report.add('derived', members.length)
    let position = 0
    for (const { context, id } of members) {
      const isUser = context === PRINCIPALS && survey.principals.get(id) === 'user' && id !== GUEST
      if (!isUser) {
        report.drop('missing-member', `${placeOf(entry)}: ${context}/entry/${id}`)
        continue
      }
      report.add('imported')
      report.count(entry.id === '_admins' ? 'members of the group admins' : 'memberships of groups')
      await rows.add('group_members', { group_id: entry.id, user_id: id, position: position++ })
    }
  }

  /** Waits for the unfinished hashes. */
  async finish(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    await Promise.all(pending)
  }

  async #password(hash: string | undefined, plainSecret: string | undefined): Promise<string | undefined> {
    const { passwords } = this.#deps
    if (plainSecret !== undefined) return await passwords.hash(plainSecret)
    return hash !== undefined && passwords.wrap ? await passwords.wrap(hash) : hash
  }

  #homeContext(id: string, uri: string | undefined): string | undefined {
    if (uri === undefined) return undefined
    const context = contextIdOf(uri)
    if (context !== undefined && this.#deps.survey.contexts.has(context)) return context
    this.#deps.report.note('home-context-missing', `${id}: ${uri}`)
    return undefined
  }
}

const MEMBER = rdf.member(1).slice(0, -1)

/**
 * The members of a list or group in their order, without gaps and duplicates. Members are entries; a group
 * may also refer to users by their resource. @param resource the resource that the graph describes
 */
export function readMembers(
  resource: string,
  statements: readonly Statement[],
  place: string,
  report: Report,
): EntryAddress[] {
  const numbered: Array<readonly [number: number, member: EntryAddress]> = []
  for (const { subject, predicate, object } of statements) {
    if (subject === resource && predicate === rdf.type && object.value === rdf.Seq) {
      report.add('derived')
      continue
    }
    const number =
      subject === resource && predicate.startsWith(MEMBER) ? Number(predicate.slice(MEMBER.length)) : Number.NaN
    if (!Number.isSafeInteger(number)) {
      report.drop('unknown-statement', `${place}: ${predicate}`)
      continue
    }
    const member = object.type === 'uri' ? addressIn(object.value) : undefined
    if (member) numbered.push([number, member])
    else report.drop('missing-member', `${place}: ${object.type === 'uri' ? object.value : 'a member that is no IRI'}`)
  }
  numbered.sort(([a], [b]) => a - b)
  const known = new Set<string>()
  return numbered.flatMap(([, member]) => {
    const key = `${member.context}/${member.id}`
    if (known.has(key)) {
      report.drop('duplicate-member', `${place}: ${key}`)
      return []
    }
    known.add(key)
    return [member]
  })
}

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
function readUserGraph(
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
    report.add('imported')
  }
  for (const [node, { key, value, quads }] of nodes) {
    if (!owned.has(node) || key === undefined || value === undefined) {
      report.drop('bad-value', `user ${who}: a custom property that is not complete`, quads)
      continue
    }
    report.add('imported', quads)
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
