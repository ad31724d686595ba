import { type Caller, denied, isAdmin, isGuest, requireAdmin } from '../accounts/caller.ts'
import { findGroup, insertGroup, membersOf, setHomeContext, setMembers } from '../accounts/groups.ts'
import { requireName } from '../accounts/names.ts'
import type { PasswordRules } from '../accounts/password-rules.ts'
import type { Passwords } from '../accounts/passwords.ts'
import { USERS } from '../accounts/principals.ts'
import { changeUser, findUser, insertUser, type UserChange } from '../accounts/users.ts'
import { readFlag, readLanguage, readProperties } from './user-members.ts'
import { Conflict, InvalidInput, NotSupported } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { type Graph, emptyGraph } from '../graph/graph.ts'
import { isAbsoluteIri, RELATIVE } from '../graph/iri.ts'
import type { Database, Queries } from '../stores/database.ts'
import { type Acl, groupAcl, isOwnAcl, userAcl } from '../model/acl.ts'
import { CONTEXTS, isId, isReservedSegment, PRINCIPALS, principalUri } from '../model/addresses.ts'
import { fromTemplate, inheriting, type Place, placeFor, readTemplate, requireList } from './creation-place.ts'
import { membersChange } from './access-changes.ts'
import type { Changes, EntryWriter } from './changes.ts'
import { findContext, insertContext, nextId, requireContextName, requireHomeContext } from './contexts.ts'
import { type Entry, type EntryType, type GraphType, newEntry, resourceOf } from '../model/entry.ts'
import { findEntryHead, isIdFree, presentIds } from './entry-records.ts'
import { appendToList, isList, replaceListMembers } from './list-records.ts'
import { readInfo } from './info.ts'
import { requireQuotaValue } from './quota-request.ts'
import { requireRight } from '../model/rights.ts'
import { isObject, type Read, requireIds, requirePasswordText, requireText } from './values.ts'

/** The members of the body of a creation (W3.2.1); graphs have relative IRIs. */
export interface CreationBody {
  readonly metadata?: Graph
  readonly cachedExternalMetadata?: Graph
  readonly info?: Graph
  /** Its shape depends on the graph type. */
  readonly resource?: unknown
}

export interface CreationRequest {
  readonly id: string | undefined
  /** `_newId` in it is replaced with the new id. */
  readonly resource: string | undefined
  readonly externalMetadata: string | undefined
  readonly entryType: EntryType
  readonly graphType: GraphType
  readonly namedResource: boolean
  /** Entry URI of a group that a new user joins. */
  readonly groupUri: string | undefined
  /** Resource URI of the list that the entry is added to. */
  readonly listUri: string | undefined
  /** Entry URI of the template whose metadata are copied. */
  readonly templateUri: string | undefined
  /** Fetches the body. The result is a function that reads it with every `_newId` replaced; it is called more than once. */
  readonly body: Read<(newId: string) => Promise<CreationBody>>
  /** Reads the `resource` of a graph. */
  readonly readGraph: (value: unknown) => Graph
}

/** The placeholder that clients write for the new id (W1.6). */
export const NEW_ID = '_newId'

interface Dependencies {
  readonly database: Database
  readonly ledger: Ledger
  readonly passwords: Passwords
  readonly passwordRules: PasswordRules
  readonly system: System
  readonly changes: Changes
}

export interface CreationOptions {
  /** Whether any signed-in user may create a group with its own context. */
  readonly groupContextsForAll: boolean
}

/** A creation whose body has been read and whose password has been hashed. */
export interface PreparedCreation {
  readonly caller: Caller
  readonly context: string
  readonly request: CreationRequest
  readonly readBody: (newId: string) => Promise<CreationBody>
  readonly password: string | undefined
}

/** The input for the resource of a new entry. */
interface Making {
  readonly maker: Caller
  readonly entry: Entry
  readonly place: Place
  readonly request: CreationRequest
  readonly body: CreationBody
  readonly password: string | undefined
}

/** Creates entries, and the users, groups and contexts that some of them stand for (W3.2.1, W3.9). */
export class Creation {
  readonly #deps: Dependencies
  readonly #options: CreationOptions

  constructor(deps: Dependencies, options: CreationOptions) {
    this.#deps = deps
    this.#options = options
  }

  async create(caller: Caller, contextKey: string, request: CreationRequest): Promise<Entry> {
    const prepared = await this.prepare(caller, contextKey, request)
    return await this.#deps.changes.run(caller, writer => this.insert(writer, prepared))
  }

  /** Checks what can be checked before the transaction, and reads the body. @throws {ServiceError} */
  async prepare(caller: Caller, contextKey: string, request: CreationRequest): Promise<PreparedCreation> {
    const { context } = await placeFor(this.#deps.database, caller, contextKey, request.listUri)
    requirePossible(context, request)
    // Hashing takes long and must not happen inside the transaction.
    const readBody = await request.body()
    const password = await this.#hashOf(request.graphType, await readBody(NEW_ID))
    return { caller, context, request, readBody, password }
  }

  /** Inserts the entry inside a transaction. @param complete adds what only the transaction knows */
  async insert(
    writer: EntryWriter,
    { context, request, readBody, password }: PreparedCreation,
    complete: (entry: Entry) => Entry = entry => entry,
  ): Promise<Entry> {
    const { tx, caller: maker } = writer
    // Checked again inside the transaction, because context and list may have changed before the body arrived.
    const now = await placeFor(tx, maker, context, request.listUri)
    const id = await freeId(tx, context, request.id)
    const body = await readBody(id)
    const described = complete(this.#describe({ context, id, request, body, caller: maker }))
    const entry = await this.#placed(tx, maker, described, now, request)
    const whole = await this.#withResource(writer, { maker, entry, place: now, request, body, password })
    await writer.insert(whole)
    if (isList(whole)) await replaceListMembers(tx, whole, await freeMembers(tx, whole, body.resource))
    if (now.list) {
      await appendToList(tx, now.list, id)
      await writer.update(now.list, now.list)
    }
    return entry
  }

  /** The entry with what it inherits from its list and its template. */
  async #placed(tx: Queries, caller: Caller, entry: Entry, place: Place, request: CreationRequest): Promise<Entry> {
    if (request.listUri !== undefined) requireList(place.list)
    const inherited = inheriting(caller, entry, place)
    if (request.templateUri === undefined || entry.entryType === 'Reference') return inherited
    const template = await readTemplate(tx, caller, place, request.templateUri)
    return { ...inherited, metadata: fromTemplate(entry.metadata, resourceOf(entry), template) }
  }

  /** A group together with a context that its members may write to (W3.9); resolves to the group's entry. */
  async createGroupWithContext(
    caller: Caller,
    name: string | undefined,
    contextId: string | undefined,
  ): Promise<Entry> {
    const judge = (caller: Caller): void => {
      if (isAdmin(caller) || (this.#options.groupContextsForAll && !isGuest(caller))) return
      throw denied(caller, 'create a group with a context')
    }
    judge(caller)
    const groupName = name === undefined ? undefined : requireName(name)
    const contextName = name === undefined ? undefined : requireContextName(name)
    const by = caller.user.id
    const owner = [principalUri(by)]
    return await this.#deps.changes.run(caller, async writer => {
      judge(writer.caller)
      const { tx, now } = writer
      const groupId = await freeId(tx, PRINCIPALS, undefined)
      const newContextId = await freeId(tx, CONTEXTS, contextId)
      const group = newEntry({
        context: PRINCIPALS,
        id: groupId,
        graphType: 'Group',
        by,
        now,
        acl: { ...groupAcl(groupId), admin: owner },
      })
      const context = newEntry({
        context: CONTEXTS,
        id: newContextId,
        graphType: 'Context',
        by,
        now,
        acl: { admin: owner, rwrite: [principalUri(groupId)] },
      })
      await insertGroup(tx, { id: groupId, name: groupName })
      await setMembers(tx, groupId, [by])
      await this.#openContext(tx, newContextId, contextName)
      await setHomeContext(tx, groupId, newContextId)
      await writer.insert(group)
      await writer.insert(context)
      writer.record(membersChange(groupId, [], [by]))
      return group
    })
  }

  async #hashOf(graphType: GraphType, { resource }: CreationBody): Promise<string | undefined> {
    if (graphType !== 'User' || !isObject(resource) || resource['password'] === undefined) return undefined
    const password = requirePasswordText(resource['password'], 'password')
    const name = resource['name']
    this.#deps.passwordRules.require(password, [typeof name === 'string' ? requireName(name) : undefined])
    return await this.#deps.passwords.hash(password)
  }

  #describe(from: {
    readonly context: string
    readonly id: string
    readonly request: CreationRequest
    readonly body: CreationBody
    readonly caller: Caller
  }): Entry {
    const { context, id, request, body, caller } = from
    const isLocal = request.entryType === 'Local'
    const bare = newEntry({
      context,
      id,
      by: caller.user.id,
      now: this.#deps.system.now(),
      entryType: request.entryType,
      graphType: request.graphType,
      resourceType: request.namedResource ? 'NamedResource' : 'InformationResource',
      externalResource: isLocal ? undefined : requireUri(request.resource?.replaceAll(NEW_ID, id), 'resource'),
      externalMetadata: hasExternalMetadata(request.entryType)
        ? requireUri(request.externalMetadata, 'cached-external-metadata')
        : undefined,
      metadata: request.entryType === 'Reference' ? emptyGraph : (body.metadata ?? emptyGraph),
      cachedExternalMetadata: hasExternalMetadata(request.entryType) ? body.cachedExternalMetadata : undefined,
    })
    // Clients repeat structure and types in `info`; only its ACL and other statements are used here.
    const asked = readInfo(body.info ?? emptyGraph, bare)
    const acl = isOwnAcl(asked.acl) ? asked.acl : automaticAcl(bare)
    return { ...bare, acl, statements: asked.statements }
  }

  /** Creates the resource of the entry, and returns the entry with the part that is stored in its row. */
  async #withResource(writer: EntryWriter, { maker, entry, place, request, body, password }: Making): Promise<Entry> {
    if (entry.entryType !== 'Local') return entry
    const { tx } = writer
    switch (entry.graphType) {
      case 'User':
        await this.#insertUser(writer, entry.id, body.resource, password)
        if (request.groupUri !== undefined) await joinGroup(writer, maker, place, request.groupUri, entry.id)
        return entry
      case 'Group': {
        const name = isObject(body.resource) ? body.resource['name'] : undefined
        await insertGroup(tx, {
          id: entry.id,
          name: name === undefined ? undefined : requireName(requireText(name, 'name')),
        })
        return entry
      }
      case 'Context': {
        const resource = isObject(body.resource) ? body.resource : {}
        const name = resource['name'] ?? resource['alias']
        const quota = resource['quota'] === undefined ? undefined : requireQuotaValue(resource['quota'])
        if (quota !== undefined) requireAdmin(maker, 'set a quota')
        if (quota !== undefined && !this.#deps.ledger.enforced) throw quotaOff()
        await this.#openContext(
          tx,
          entry.id,
          name === undefined ? undefined : requireContextName(requireText(name, 'name')),
        )
        if (quota !== undefined) await this.#deps.ledger.setQuota(tx, entry.id, quota)
        return entry
      }
      case 'String':
        return { ...entry, content: body.resource === undefined ? '' : requireText(body.resource, 'resource') }
      case 'Graph':
      case 'Pipeline':
        return {
          ...entry,
          content: JSON.stringify(body.resource === undefined ? {} : request.readGraph(body.resource)),
        }
      case 'List':
      case 'ResultList':
      case 'None':
      case 'SystemContext':
      case 'PipelineResult':
        return entry
    }
  }

  async #insertUser(writer: EntryWriter, id: string, resource: unknown, password: string | undefined): Promise<void> {
    const { tx } = writer
    if (resource === undefined) {
      await insertUser(tx, { id })
      return writer.record({ event: 'user-created', userId: id })
    }
    if (!isObject(resource)) throw new InvalidInput('invalid-value', '`resource` of a user is an object.')
    const { name: givenName = '', homecontext, language, customProperties, disabled } = resource
    const name = requireName(requireText(givenName, 'name'))
    const homeContext =
      homecontext === undefined ? undefined : await requireHomeContext(tx, requireText(homecontext, 'homecontext'))
    await insertUser(tx, { id, name, password, homeContext })
    const user = await findUser(tx, id)
    const change: UserChange = {
      ...(language === undefined ? {} : { language: readLanguage(language) }),
      ...(customProperties === undefined ? {} : { customProperties: readProperties(customProperties, id) }),
      ...(disabled === undefined ? {} : { disabled: readFlag(disabled) }),
    }
    if (user && Object.keys(change).length > 0) await changeUser(tx, user, change)
    writer.record({ event: 'user-created', userId: id, userName: name })
  }

  async #openContext(tx: Queries, id: string, name: string | undefined): Promise<void> {
    await insertContext(tx, id, name)
    await this.#deps.ledger.open(tx, id)
  }
}

const quotaOff = (): NotSupported => new NotSupported('quota-not-supported', 'Quota is switched off.')

const hasExternalMetadata = (type: EntryType): boolean => type === 'LinkReference' || type === 'Reference'

function automaticAcl({ entryType, graphType, id }: Entry): Acl {
  if (entryType !== 'Local') return {}
  return graphType === 'User' ? userAcl(id) : graphType === 'Group' ? groupAcl(id) : {}
}

/** Checks which kinds of entry a context accepts. @throws {InvalidInput} */
function requirePossible(context: string, request: CreationRequest): void {
  const { entryType, graphType } = request
  const wrong = (why: string): InvalidInput => new InvalidInput('invalid-type', why)
  if (graphType === 'SystemContext' || graphType === 'PipelineResult') {
    throw wrong(`An entry of graph type ${graphType} cannot be created.`)
  }
  const isContext = entryType === 'Local' && graphType === 'Context'
  const isPrincipal = entryType === 'Local' && (graphType === 'User' || graphType === 'Group')
  if (context === CONTEXTS && !isContext) throw wrong('Only contexts can be created in _contexts.')
  if (context !== CONTEXTS && isContext) throw wrong('A context can only be created in _contexts.')
  if (context !== PRINCIPALS && isPrincipal) throw wrong('Users and groups can only be created in _principals.')
}

/** The requested id if it is free, otherwise the next number. */
async function freeId(tx: Queries, context: string, wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return await nextId(tx, context)
  const isSystemContext = context === CONTEXTS || context === PRINCIPALS
  const isReserved = wanted === NEW_ID || (isSystemContext && (wanted.startsWith('_') || isReservedSegment(wanted)))
  if (!isId(wanted) || isReserved) {
    throw new InvalidInput(
      'invalid-id',
      `"${wanted}" cannot be an id: A-Z, a-z, 0-9, _ and -, at most 128, not reserved.`,
    )
  }
  const isNameOfContext = context === CONTEXTS && (await findContext(tx, wanted)) !== undefined
  if (isNameOfContext || !(await isIdFree(tx, { context, id: wanted }))) {
    throw new Conflict('id-taken', `The id "${wanted}" is taken in context ${context}.`)
  }
  return wanted
}

/** The ids that are entries of the context, each once; a new list skips the others (W3.2.1). */
async function freeMembers(tx: Queries, { context, id: own }: Entry, resource: unknown): Promise<string[]> {
  const ids = [...new Set(requireIds(resource ?? []))]
  const present = await presentIds(tx, context, ids)
  return ids.filter(id => id !== own && present.has(id))
}

/** Adding a member requires the same right as any other change of the members (W3.8). */
async function joinGroup(
  writer: EntryWriter,
  maker: Caller,
  { contextEntry }: Place,
  groupUri: string,
  userId: string,
): Promise<void> {
  const { tx } = writer
  const group = /^\.\/_principals\/(?:entry|resource)\/([A-Za-z0-9_-]+)$/.exec(groupUri)?.[1]
  const entry = group === undefined ? undefined : await findEntryHead(tx, { context: PRINCIPALS, id: group })
  if (group === undefined || group === USERS || !entry || !(await findGroup(tx, group))) {
    throw new InvalidInput('invalid-member', '`groupURI` does not denote a group that can be joined.')
  }
  requireRight(maker, 'writeresource', { entry, contextEntry }, 'change the members of this group')
  const members = await membersOf(tx, group)
  writer.record(membersChange(group, members, [...members, userId]))
  await setMembers(tx, group, [...members, userId])
}

const MAX_URI = 16_384

function requireUri(value: string | undefined, parameter: string): string {
  if (value === undefined) throw new InvalidInput('invalid-uri', `The parameter ${parameter} is missing.`)
  if (value.length > MAX_URI) throw new InvalidInput('invalid-uri', `The parameter ${parameter} is too long.`)
  if (value.startsWith(RELATIVE) || isAbsoluteIri(value)) return value
  throw new InvalidInput('invalid-uri', `The parameter ${parameter} is not an absolute URI: "${value}".`)
}
