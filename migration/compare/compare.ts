import { StartupError } from '../../src/base/errors.ts'
import type { System } from '../../src/base/system.ts'
import type { Server } from './server.ts'

/** One entry that differs between the servers. */
interface Difference {
  readonly entry: string
  /** The lines that only the old server has, and those that only the new one has. */
  readonly lines: readonly string[]
}

interface Comparison {
  readonly contexts: number
  readonly compared: number
  readonly differences: readonly Difference[]
}

const SYSTEM = ['_contexts', '_principals']
const MAX_LINES = 10
const MAX_LINE = 300

/**
 * Compares the lists of contexts and of their entries, and a random sample of entries with their content.
 * @throws {StartupError} when a server does not respond
 */
export async function compareServers(
  old: Server,
  now: Server,
  { sample, system }: { readonly sample: number; readonly system: System },
): Promise<Comparison> {
  const differences: Difference[] = []
  const contexts = [...new Set([...SYSTEM, ...(await listIn(old, '_contexts')).ids])]
  const all: string[] = []
  for (const context of contexts) {
    const [before, after] = [await listIn(old, context), await listIn(now, context)]
    const lines = statusDiffers(before, after, [200, 404]) ?? missing(before.ids, after.ids)
    if (lines.length > 0) differences.push({ entry: context, lines })
    all.push(...[...before.ids].filter(id => after.ids.has(id)).map(id => `${context}/${id}`))
  }
  const chosen = choose(all, sample, system)
  for (const place of chosen) {
    const lines = await compareEntry(old, now, place)
    if (lines.length > 0) differences.push({ entry: place, lines })
  }
  return { contexts: contexts.length, compared: chosen.length, differences }
}

async function compareEntry(old: Server, now: Server, place: string): Promise<string[]> {
  const path = place.replace('/', '/entry/')
  const [before, after] = await Promise.all([old.get(`${path}?includeAll`), now.get(`${path}?includeAll`)])
  const differing = statusDiffers(before, after)
  if (differing) return differing
  if (before.status !== 200) return []
  const lines = missing(canonicalEntry(before.text, old.base), canonicalEntry(after.text, now.base))
  if (!/"http:\/\/purl\.org\/dc\/terms\/extent"/.test(after.text)) return lines
  const resource = place.replace('/', '/resource/')
  const [bytes, copy] = await Promise.all([old.digest(resource), now.digest(resource)])
  if (bytes !== undefined && bytes === copy) return lines
  return [...lines, `file: ${bytes ?? 'not readable'} there, ${copy ?? 'not readable'} here`]
}

function missing(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  const lines = [
    ...[...before].filter(line => !after.has(line)).map(line => `only there: ${line}`),
    ...[...after].filter(line => !before.has(line)).map(line => `only here: ${line}`),
  ]
  const shown = lines.slice(0, MAX_LINES).map(line => line.replaceAll(/\p{C}/gu, '?').slice(0, MAX_LINE))
  return lines.length > MAX_LINES ? [...shown, `… and ${lines.length - MAX_LINES} more`] : shown
}

interface Answer {
  readonly status: number
}

/** @param compared the only statuses with which two responses can be the same; by default all */
const statusDiffers = (before: Answer, after: Answer, compared?: readonly number[]): string[] | undefined =>
  before.status === after.status && (compared?.includes(before.status) ?? true)
    ? undefined
    : [`status: ${before.status} there, ${after.status} here`]

/**
 * The ids of the entries of a context; none when the server has no such context, such as one that was not imported.
 * @throws {StartupError} when the user may not list it
 */
async function listIn(server: Server, context: string): Promise<Answer & { readonly ids: ReadonlySet<string> }> {
  const { status, text } = await server.get(context)
  if (status === 401 || status === 403 || (status !== 200 && SYSTEM.includes(context)))
    throw new StartupError(`${server.base}${context} cannot be listed: status ${status}. Sign in as an administrator.`)
  const ids = status === 200 ? (JSON.parse(text) as unknown) : []
  return { status, ids: new Set(Array.isArray(ids) ? ids.map(String) : []) }
}

/** Chooses this number of items, each with the same probability. */
function choose(items: readonly string[], count: number, system: System): string[] {
  const rest = [...items]
  for (let index = 0; index < Math.min(count, rest.length); index++) {
    const random = Buffer.from(system.randomBytes(6)).readUIntBE(0, 6) / 2 ** 48
    const other = index + Math.floor(random * (rest.length - index))
    const [a, b] = [rest[index] ?? '', rest[other] ?? '']
    rest[index] = b
    rest[other] = a
  }
  return rest.slice(0, count)
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Members of an entry that the new server derives, counts or orders in its own way. */
const derived: ReadonlySet<string> = new Set(['relations', 'quota', 'loginTime', 'rdfPublisher'])
/** Statements that the servers generate. */
const managed = /(^http:\/\/www\.w3\.org\/ns\/prov#|\/terms\/(referredIn|relation)$|owl#sameAs$)/

/**
 * The entry as a set of lines, one for each member or statement, which are the same on both servers for the
 * same entry.
 */
function canonicalEntry(text: string, base: string): Set<string> {
  const lines = new Set<string>()
  const entry = JSON.parse(text.replaceAll(base, './')) as Json
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return new Set([text])
  for (const [name, value] of Object.entries(entry)) {
    if (derived.has(name)) continue
    if (name === 'info' || name === 'metadata' || name === 'cached-external-metadata') {
      for (const line of statements(value)) lines.add(`${name}: ${line}`)
    } else lines.add(`${name}: ${canonical(value)}`)
  }
  return lines
}

/** Each server labels blank nodes differently, so only their presence is compared. */
function* statements(graph: Json | undefined): Generator<string> {
  for (const [subject, predicates] of members(graph)) {
    for (const [predicate, objects] of members(predicates)) {
      if (managed.test(predicate)) continue
      for (const object of Array.isArray(objects) ? (objects as readonly Json[]) : []) {
        const { type, value, lang, datatype } = Object.fromEntries(members(object))
        const term =
          type === 'bnode' ? '[]' : JSON.stringify([type, value, lang, isPlain(datatype) ? undefined : datatype])
        yield `${subject.startsWith('_:') ? '[]' : subject} ${predicate} ${term}`
      }
    }
  }
}

const isPlain = (datatype: Json | undefined): boolean =>
  typeof datatype === 'string' && /#(string|langString)$/.test(datatype)

const members = (value: Json | undefined): Array<[string, Json]> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []

/** Sorts keys and lists, because none of the compared lists has an order. */
function canonical(value: Json): string {
  if (Array.isArray(value))
    return `[${value
      .map(item => canonical(item as Json))
      .sort()
      .join(',')}]`
  const pairs = members(value).filter(([name]) => !derived.has(name))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${pairs
    .map(([name, item]) => `${name}:${canonical(item)}`)
    .sort()
    .join(',')}}`
}
