import { ADMIN, ADMINS, GUEST, systemNames, USERS } from '../../src/accounts/users.ts'
import { type Milliseconds, UNLIMITED } from '../../src/base/units.ts'
import { rowOf } from '../../src/content/entry-columns.ts'
import { everybody, newEntry } from '../../src/model/entry.ts'
import { CONTEXTS, type EntryAddress, isId, PRINCIPALS } from '../../src/model/addresses.ts'
import type { Scratch } from '../../src/stores/scratch.ts'
import type { Zone } from './dates.ts'
import type { DiskFiles } from './old-files.ts'
import { EntryRows } from './entry-rows.ts'
import type { FindingCode } from './finding-codes.ts'
import { type ContextIndex, readContextIndex, RetiredIds } from './index-graph.ts'
import { ListMemberships } from './list-memberships.ts'
import { byAge, namesOfContexts, namesOfPrincipals } from './names.ts'
import { type PasswordHashing, PrincipalRows } from './principal-rows.ts'
import type { QuadTable } from './quad-table.ts'
import type { Report } from './report.ts'
import type { RowSink } from './row-sink.ts'
import type { Survey } from './survey.ts'
import type { Terms } from './terms.ts'

interface Conversion {
  readonly quads: QuadTable
  readonly scratch: Scratch
  readonly terms: Terms
  readonly survey: Survey
  readonly files: DiskFiles
  readonly rows: RowSink
  readonly report: Report
  readonly passwords: PasswordHashing
  /** The zone of dates without one. Without this setting they are treated as UTC and reported. */
  readonly zone: Zone | undefined
  /** The time of data without a readable date. */
  readonly fallbackTime: Milliseconds
  /** In bytes, for contexts without a quota of their own; -1 is unlimited. */
  readonly defaultQuota: number
  /** Called after each entry. */
  readonly onEntry: () => void
}

/**
 * Reads the old store graph by graph, in the order principals, contexts, entries with their revisions, and
 * writes the rows of the new one. Memory contains the ids of users, groups and contexts, and one entry.
 */
export async function convert(conversion: Conversion): Promise<void> {
  const { quads, scratch, rows, report, survey, passwords } = conversion
  const ids = scratch.map()
  const present = {
    add: ({ context, id }: EntryAddress): void => ids.set(`${context}/${id}`, ''),
    has: ({ context, id }: EntryAddress): boolean => ids.get(`${context}/${id}`) !== undefined,
  }
  const retired = new RetiredIds()
  const contexts = [...survey.contexts].sort((a, b) => systemFirst(a) - systemFirst(b) || byAge(a, b))
  const indexes = new Map(contexts.map(context => [context, readContextIndex(context, conversion)]))
  const namesIn = (context: string): ReadonlyMap<string, string[]> => indexes.get(context)?.names ?? new Map()
  const principalNames = namesOfPrincipals(survey.principals.keys(), namesIn(PRINCIPALS), report)
  const contextNames = namesOfContexts(contexts, namesIn(CONTEXTS), report)
  const principals = new PrincipalRows({ rows, report, survey, names: principalNames, passwords })
  const lists = new ListMemberships(scratch, report, present.has)
  const entries = new EntryRows({ ...conversion, principals, lists, retired, isExport: false })

  for (const context of contexts) {
    const index = indexes.get(context)
    const totals = { last: index?.lastNumber ?? 0, bytes: 0 }
    for (const id of index?.deleted ?? []) {
      retired.add(context, id)
      totals.last = Math.max(totals.last, numberOf(id))
    }
    const prefix = `${conversion.terms.base}${context}/entry/`
    for (const graph of quads.graphsUnder(prefix)) {
      const id = graph.name.slice(prefix.length)
      if (!isId(id) || (context === CONTEXTS && survey.dropped.has(id))) continue
      const added = await entries.add({ context, id }, graph)
      if (!added) continue
      present.add({ context, id })
      totals.last = Math.max(totals.last, numberOf(id))
      totals.bytes += added.fileSize
      conversion.onEntry()
    }
    await lists.settle(context, rows)
    await addContext(context, { index, name: contextNames.get(context), ...totals }, conversion)
  }
  await principals.finish()
  await addMissing(present.has, conversion)
  for (const { context, id } of retired.list((context, id) => present.has({ context, id }))) {
    await rows.add('retired_ids', { context, id })
  }
  reportUnread(conversion)
  conversion.files.reportRest()
}

const systemFirst = (context: string): number => (context === PRINCIPALS ? 0 : context === CONTEXTS ? 1 : 2)

/** An id as the number that a counter would assign; 0 for other ids, and for numbers that no counter reaches. */
const numberOf = (id: string): number => (/^\d{1,12}$/.test(id) ? Number(id) : 0)

interface ContextTotals {
  readonly index: ContextIndex | undefined
  readonly name: string | undefined
  readonly last: number
  readonly bytes: number
}

async function addContext(
  context: string,
  totals: ContextTotals,
  { rows, report, defaultQuota }: Conversion,
): Promise<void> {
  const { index, last, bytes } = totals
  const isSystem = context === CONTEXTS || context === PRINCIPALS
  const name = totals.name ?? (isSystem ? context : null)
  await rows.add('contexts', { id: context, name, last_number: last })
  await rows.add('quota_usage', { kind: 'context', owner: context, quota: index?.quota ?? null })
  report.count('contexts')
  if (index?.quota !== undefined) report.count('contexts with a quota')
  const quota = index?.quota ?? defaultQuota
  if (quota !== UNLIMITED && bytes > quota) {
    report.note('over-quota', `${context}${name === null ? '' : ` (${name})`}: ${bytes} of ${quota} bytes`)
  }
}

/** Adds system contexts and principals that the old store lacks and every new store has. */
async function addMissing(has: (address: EntryAddress) => boolean, conversion: Conversion): Promise<void> {
  const { rows, report, survey, fallbackTime: now } = conversion
  const missing = async (
    context: string,
    id: string,
    graphType: 'SystemContext' | 'User' | 'Group',
  ): Promise<boolean> => {
    const isThere = graphType === 'SystemContext' ? has({ context, id }) : survey.principals.has(id)
    if (isThere || has({ context, id })) return false
    report.note('system-entry-missing', `${context}/entry/${id}`)
    const entry = newEntry({ context, id, graphType, by: undefined, now, acl: { mread: everybody } })
    await rows.add('entries', { ...rowOf(entry) })
    return true
  }
  for (const id of [CONTEXTS, PRINCIPALS]) await missing(CONTEXTS, id, 'SystemContext')
  for (const id of [GUEST, ADMIN] as const) {
    if (await missing(PRINCIPALS, id, 'User')) await rows.add('principals', { id, kind: 'user', name: systemNames[id] })
  }
  for (const id of [ADMINS, USERS] as const) {
    if (await missing(PRINCIPALS, id, 'Group'))
      await rows.add('principals', { id, kind: 'group', name: systemNames[id] })
  }
}

/** Graphs that were not read belong to nothing that was imported. */
function reportUnread({ quads, terms, report, survey }: Conversion): void {
  for (const { name, quads: count, store } of quads.unread()) {
    const isBelow = name.startsWith(terms.base)
    const relative = isBelow ? name.slice(terms.base.length) : name
    const code = isBelow && store === 'main' ? reasonFor(relative, survey) : 'orphan-graph'
    report.drop(code, store === 'main' ? relative : `provenance: ${relative}`, count)
  }
}

function reasonFor(name: string, { dropped, contexts }: Survey): FindingCode {
  const [context = '', kind, ...rest] = name.split('/')
  const inSystem = context === CONTEXTS ? dropped.get(rest.join('/')) : undefined
  const own = dropped.get(context) ?? inSystem
  if (own) return own
  return kind === 'entry' && contexts.has(context) && !isId(rest.join('/')) ? 'id-refused' : 'orphan-graph'
}
