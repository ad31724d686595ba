import { ADMIN, ADMINS, GUEST, USERS } from '../../src/accounts/users.ts'
import { CONTEXTS, isId, isReservedSegment, PRINCIPALS } from '../../src/model/addresses.ts'
import { rdf, store } from '../../src/graph/vocabulary.ts'
import type { FindingCode } from './finding-codes.ts'
import { truncated, Unusable } from './formats/quads.ts'
import type { OldGraph, QuadTable } from './quad-table.ts'

type PrincipalKind = 'user' | 'group'

/** The existing principals and contexts, found before the main pass. */
export interface Survey {
  readonly principals: ReadonlyMap<string, PrincipalKind>
  readonly contexts: ReadonlySet<string>
  /** Contexts that are not imported, and the reasons. */
  readonly dropped: ReadonlyMap<string, FindingCode>
}

const PRINCIPALS_ENTRY = `${CONTEXTS}/entry/${PRINCIPALS}`

/**
 * The base address of the store: the part before the entry of the context `_principals`.
 * @throws {Unusable} `no-base`, `two-bases`, `base-differs`
 */
export function findBase(quads: QuadTable, expected: string | undefined): string {
  const bases: string[] = []
  for (const { name } of quads.graphsUnder('')) {
    if (name.endsWith(`/${PRINCIPALS_ENTRY}`)) bases.push(name.slice(0, -PRINCIPALS_ENTRY.length))
  }
  const [base] = bases
  if (base === undefined) throw new Unusable('no-base', `there is no entry ${PRINCIPALS_ENTRY}`)
  if (bases.length > 1) throw new Unusable('two-bases', `it holds the stores of ${bases.join(' and ')}`)
  if (expected === undefined || expected === base) return base
  throw new Unusable('base-differs', `its base address is ${base}, not ${expected}`)
}

/** Reads the types of principals and contexts, each from its own entry graph in its system context only. */
export function survey(quads: QuadTable, base: string): Survey {
  const principals = new Map<string, PrincipalKind>()
  for (const { id, types } of typedEntries(quads, base, PRINCIPALS)) {
    if (types.has('User')) principals.set(id, 'user')
    else if (types.has('Group')) principals.set(id, 'group')
  }
  const contexts = new Set([CONTEXTS, PRINCIPALS])
  const dropped = new Map<string, FindingCode>()
  for (const { id, types } of typedEntries(quads, base, CONTEXTS)) {
    const isSystem = id === CONTEXTS || id === PRINCIPALS
    if (isSystem || !(types.has('Context') || types.has('SystemContext'))) continue
    if (id.startsWith('_') || types.has('SystemContext')) dropped.set(id, 'system-context-dropped')
    else if (!isId(id) || isReservedSegment(id)) dropped.set(id, 'id-refused')
    else contexts.add(id)
  }
  return { principals, contexts, dropped }
}

/**
 * For formats without an end mark: data that every store has must be there.
 * @throws {Unusable} `truncated`
 */
export function requireComplete(quads: QuadTable, base: string, { principals }: Survey): void {
  const system = [GUEST, ADMIN, ADMINS, USERS].filter(id => !principals.has(id))
  if (system.length > 0) throw truncated(`the system principals ${system.join(', ')} are missing`)
  const index = quads.find('main', `${base}${CONTEXTS}/resource/${CONTEXTS}`)
  for (const [, predicate, object] of index ? quads.peek(index) : []) {
    if (predicate !== store.term('resHasMMd') || typeof object !== 'string') continue
    if (object.startsWith(base) && !quads.find('main', object)) throw truncated(`the entry ${object} is missing`)
  }
}

interface TypedEntry {
  readonly id: string
  readonly types: ReadonlySet<string>
}

/** Local entries of a system context with the types that their graphs state about their resources. */
function* typedEntries(quads: QuadTable, base: string, context: string): Generator<TypedEntry> {
  const prefix = `${base}${context}/entry/`
  for (const graph of quads.graphsUnder(prefix)) {
    const types = localTypes(quads, graph)
    if (types) yield { id: graph.name.slice(prefix.length), types }
  }
}

const TYPES = store.term('')
const foreignTypes: ReadonlySet<string> = new Set([store.Link, store.Reference, store.LinkReference])

function localTypes(quads: QuadTable, graph: OldGraph): ReadonlySet<string> | undefined {
  const statements = [...quads.peek(graph)]
  const objects = (subject: string, predicate: string): string[] =>
    statements.flatMap(([s, p, o]) => (s === subject && p === predicate && typeof o === 'string' ? [o] : []))
  if (objects(graph.name, rdf.type).some(type => foreignTypes.has(type))) return undefined
  const [resource, ...others] = new Set(objects(graph.name, store.resource))
  if (resource === undefined || others.length > 0) return undefined
  const types = objects(resource, rdf.type).filter(type => type.startsWith(TYPES))
  return new Set(types.map(type => type.slice(TYPES.length)))
}
