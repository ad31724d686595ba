type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Members of an entry that the new server derives, counts or orders in its own way. */
const derived: ReadonlySet<string> = new Set(['relations', 'quota', 'loginTime', 'rdfPublisher'])
/** Statements that the servers generate. */
const managed = /(^http:\/\/www\.w3\.org\/ns\/prov#|\/terms\/(referredIn|relation)$|owl#sameAs$)/

/**
 * The entry as a set of lines, one for each member or statement, which are the same on both servers for the
 * same entry.
 */
export function canonicalEntry(text: string, base: string): Set<string> {
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
