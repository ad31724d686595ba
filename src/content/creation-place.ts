import { denied } from '../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../accounts/caller.ts'
import { InvalidInput } from '../base/errors.ts'
import { graphOf, type GraphText, graphText, parseGraph, type Statement, statementsOf, uri } from '../graph/graph.ts'
import { dc, dct, store } from '../graph/vocabulary.ts'
import type { Queries } from '../stores/database.ts'
import {
  type Acl,
  aclSlots,
  decidesAlone,
  decidingAlone,
  type Entry,
  type EntryHead,
  givesAccess,
  isList,
  isOwnAcl,
  ofFolderOnly,
  resourceOf,
} from '../model/entry.ts'
import { CONTEXTS, entryUri, PRINCIPALS, principalUri, resourceUri } from '../model/addresses.ts'
import { findAddress, type FoundContext, getContext } from './contexts.ts'
import { findEntry, findEntryHead } from './entry-records.ts'
import { withStatement } from './info.ts'
import { may, requireRight } from '../model/rights.ts'

/** The place of a new entry: its context, and the list that it is added to, if any. */
export interface Place {
  readonly context: string
  readonly contextEntry: EntryHead
  readonly list: EntryHead | undefined
  /** True if the caller may write to the context itself, not only to the list. */
  readonly mayWriteContext: boolean
}

/**
 * Checks whether the caller may create an entry here, through the context or the list (W4.4). Users, groups and
 * contexts require the right on the context: the right to write to a list must not allow creating users.
 * @param findContext from a cache, for a check that is repeated inside the transaction
 */
export async function placeFor(
  queries: Queries,
  caller: Caller,
  contextKey: string,
  listUri: string | undefined,
  findContext = (key: string): Promise<FoundContext> => getContext(queries, key),
): Promise<Place> {
  const { context, entry: contextEntry } = await findContext(contextKey)
  const contextsEntry = (await findContext(CONTEXTS)).entry
  const whole = { entry: contextEntry, contextEntry: contextsEntry }
  const what = `create entries in context ${context.id}`
  const mayWriteContext = may(caller, 'writeresource', whole)
  const list = listUri === undefined ? undefined : await findList(queries, context.id, listUri)
  if (list) requireRight(caller, 'writeresource', { entry: list, contextEntry }, 'add to this list')
  const byList = list !== undefined && context.id !== CONTEXTS && context.id !== PRINCIPALS
  if (!mayWriteContext && !byList) throw denied(caller, what)
  return { context: context.id, contextEntry, list, mayWriteContext }
}

/** The list that a URI denotes, if it lies in the context. */
async function findList(queries: Queries, context: string, listUri: string): Promise<EntryHead | undefined> {
  const address = await findAddress(queries, listUri)
  return address?.context === context ? await findEntryHead(queries, address) : undefined
}

/** @throws {InvalidInput} unless the URI denotes a list in this context */
export function requireList(list: EntryHead | undefined): EntryHead {
  if (list && isList(list)) return list
  throw new InvalidInput('unknown-list', 'There is no such list in this context. It may have been deleted meanwhile.')
}

/** Whether new entries of the list get access from the list or its folders, so that they need no copy of its access list. */
const passesOnAccess = (list: EntryHead): boolean => givesAccess(list) || list.folders.length > 0

/**
 * Applies what an entry inherits from the list it is created in (W3.2.1): the list's access list and, for a
 * creator who does not administer the list, the right to administer the new entry. The guest does not get that right: it
 * would apply to everyone.
 */
export function inheriting(caller: Caller, entry: Entry, place: Place): Entry {
  const { list, mayWriteContext } = place
  if (!list) return entry
  const acl = inheritedAcl(caller, entry.acl, place)
  if (mayWriteContext) return { ...entry, acl }
  const origin = uri(resourceUri(list))
  return {
    ...entry,
    acl,
    statements: withStatement(entry.statements, entryUri(entry), store.originallyCreatedIn, origin),
  }
}

/** The access list that an entry with this one has here. */
export function inheritedAcl(caller: Caller, acl: Acl, { contextEntry, list }: Place): Acl {
  if (!list) return acl
  const own = may(caller, 'administer', { entry: list, contextEntry }) || isGuest(caller)
  const creator: Acl = own ? {} : { admin: [principalUri(caller.user.id)] }
  return passesOnAccess(list) ? inFolder(acl, creator) : copied(acl, list.acl, creator)
}

/** In a folder that gives access: a list of the entry's own decides alone unless it says otherwise, and never lets in more people than it names. */
function inFolder(acl: Acl, creator: Acl): Acl {
  if (isOwnAcl(acl)) return unionOf(acl, creator)
  return isOwnAcl(creator) ? unionOf(creator, ofFolderOnly) : acl
}

/**
 * For any other list, as in EntryStore. If the access list of the entry or of the list excludes access from above, their union excludes it
 * too.
 */
function copied(own: Acl, ofList: Acl, creator: Acl): Acl {
  const all = unionOf(own, ofList, creator)
  return [own, ofList].some(decidesAlone) ? decidingAlone(all) : all
}

const unionOf = (...acls: readonly Acl[]): Acl =>
  Object.fromEntries(
    aclSlots
      .map(slot => [slot, [...new Set(acls.flatMap(acl => acl[slot] ?? []))]] as const)
      .filter(([, principals]) => principals.length > 0),
  )

const notTaken = new Set<string>([dct.title, dct.description, dc.title, dc.description])

/** The metadata of a template without its titles and descriptions, and the resource they describe (W3.2.1). */
interface Template {
  readonly about: string
  readonly statements: readonly Statement[]
}

/** @throws {InvalidInput} unless the URI denotes an entry in this context */
export async function readTemplate(
  queries: Queries,
  caller: Caller,
  { context, contextEntry }: Place,
  templateUri: string,
): Promise<Template> {
  const address = await findAddress(queries, templateUri)
  const entry = address?.context === context ? await findEntry(queries, address) : undefined
  if (!entry) throw new InvalidInput('invalid-value', '`template` is not an entry of this context.')
  requireRight(caller, 'readmetadata', { entry, contextEntry }, 'read the metadata of the template')
  const statements = [...statementsOf(parseGraph(entry.metadata))].filter(({ predicate }) => !notTaken.has(predicate))
  return { about: resourceOf(entry), statements }
}

/** The metadata of a new entry together with those of its template, whose subject becomes the new entry's resource. */
export function fromTemplate(metadata: GraphText, resource: string, { about, statements }: Template): GraphText {
  const moved = statements.map(statement =>
    statement.subject === about ? { ...statement, subject: resource } : statement,
  )
  return graphText(graphOf([...statementsOf(parseGraph(metadata)), ...moved]))
}
