import { denied, isAdmin } from '../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../accounts/caller.ts'
import { opensContext } from '../accounts/token-scopes.ts'
import { insertGroup, setHomeContext, setMembers } from '../accounts/groups.ts'
import { isMailAddress } from '../mails/link-mail.ts'
import { Conflict, InvalidInput } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import type { FileRecord } from '../files/file-records.ts'
import type { Files } from '../files/files.ts'
import { emptyGraph, type Graph, graphOf, isAbsoluteIri, literal, RELATIVE, uri } from '../graph/graph.ts'
import { dct, foaf } from '../graph/vocabulary.ts'
import {
  type Entry,
  type GraphType,
  groupAcl,
  hasExternalMetadata,
  isOwnAcl,
  newEntry,
  resourceOf,
} from '../model/entry.ts'
import { groupNameFor } from './values.ts'
import {
  CONTEXTS,
  entryUri,
  isId,
  isReservedSegment,
  PRINCIPALS,
  principalUri,
  resourceUri,
} from '../model/addresses.ts'
import type { Database, Queries } from '../stores/database.ts'
import { membersChange } from './change-events.ts'
import type { Changes, EntryWriter } from './changes.ts'
import { findContext, type FoundContext, nextId, requireContextName } from './contexts.ts'
import { fromTemplate, inheriting, type Place, placeFor, readTemplate, requireList } from './creation-place.ts'
import type { EntryLoader } from './entry-loader.ts'
import { isIdFree } from './entry-records.ts'
import { describeFile, requireHoldsFile, uploadEvent } from './file-description.ts'
import { readInfo } from './info.ts'
import { joinList } from './access-scopes.ts'
import { type CreationBody, type CreationRequest, type Kinds, NEW_ID, type Upload } from './resource-kind.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly kinds: Kinds
  /** Makes the rows of a new context beside its entry. */
  readonly contexts: { open(tx: Queries, id: string, name: string | undefined): Promise<void> }
  readonly files: Files
  readonly system: System
  readonly changes: Changes
}

/** A user as an administrator describes them. */
export interface NewUser {
  readonly name: string
  readonly password?: string | undefined
  readonly temporaryPassword?: boolean | undefined
  readonly fullName?: string | undefined
  readonly email?: string | undefined
  /** Ids. */
  readonly groups: readonly string[]
  readonly space?: { readonly title?: string | undefined; readonly quota?: Bytes | undefined } | undefined
}

/** Ids of a user and of their context. */
interface CreatedUser {
  readonly id: string
  readonly homecontext: string | undefined
}

interface CreationOptions {
  /** Whether any signed-in user may create a group with its own context. */
  readonly groupContextsForAll: boolean
}

/** A creation whose body has been read and whose password has been hashed. */
interface PreparedCreation {
  readonly caller: Caller
  readonly context: string
  readonly request: CreationRequest
  readonly readBody: (newId: string) => CreationBody
  /** The result of `ResourceKind.prepare`. */
  readonly hash: string | undefined
}

/** Creates entries, and the users, groups and contexts that some of them represent (W3.2.1, W3.9). */
export class Creation {
  readonly #deps: Dependencies
  readonly #options: CreationOptions

  constructor(deps: Dependencies, options: CreationOptions) {
    this.#deps = deps
    this.#options = options
  }

  async create(caller: Caller, contextKey: string, request: CreationRequest): Promise<Entry> {
    const prepared = await this.#prepare(caller, contextKey, request)
    return await this.#deps.changes.run(caller, writer => this.#insert(writer, prepared))
  }

  /**
   * Creates an entry together with its file, in one transaction: a failed upload leaves nothing.
   * @throws {InvalidInput} unless the request describes a local entry that can hold a file
   */
  async createWithFile(
    caller: Caller,
    contextKey: string,
    request: CreationRequest,
    upload: Upload,
  ): Promise<{ readonly entry: Entry; readonly file: FileRecord }> {
    if (request.entryType !== 'Local' || request.graphType !== 'None' || request.namedResource) {
      throw new InvalidInput('invalid-type', 'Only a local entry of graph type None is created with a file.')
    }
    const prepared = await this.#prepare(caller, contextKey, request)
    const { entry, file } = await this.#deps.files.putNew(
      { context: prepared.context, user: isGuest(caller) ? null : caller.user.id },
      upload,
      {
        transaction: this.#deps.changes.transactionOf(caller),
        create: async (writer, file) => {
          const entry = await this.#insert(writer, prepared, entry => {
            requireHoldsFile(entry)
            return { ...entry, statements: describeFile(entry, { ...upload.describe(), size: file.size }) }
          })
          writer.record(uploadEvent(entry, file, undefined))
          return { place: entry, entry, file }
        },
      },
    )
    return { entry, file }
  }

  /** Checks what can be checked before the transaction, and reads the body. @throws {ServiceError} */
  async #prepare(caller: Caller, contextKey: string, request: CreationRequest): Promise<PreparedCreation> {
    const { database, loader } = this.#deps
    const findContext = async (key: string): Promise<FoundContext> => await loader.getContext(key)
    const { context } = await placeFor(database, caller, contextKey, request.listUri, findContext)
    requirePossible(this.#deps.kinds, context, request)
    const readBody = await request.body()
    const hash = await this.#deps.kinds.ofType[request.graphType].prepare?.(readBody(NEW_ID), caller)
    return { caller, context, request, readBody, hash }
  }

  /** Inserts the entry inside a transaction. @param complete adds what only the transaction knows */
  async #insert(
    writer: EntryWriter,
    { context, request, readBody, hash }: PreparedCreation,
    complete: (entry: Entry) => Entry = entry => entry,
  ): Promise<Entry> {
    const { tx, caller: maker } = writer
    // Checked again inside the transaction, because context and list may have changed before the body arrived.
    const now = await placeFor(tx, maker, context, request.listUri)
    const id = await freeId(tx, context, request.id)
    const body = readBody(id)
    const described = complete(this.#describe({ context, id, request, body, caller: maker }))
    const entry = await this.#withInherited(tx, maker, described, now, request)
    const kind = entry.entryType === 'Local' ? this.#deps.kinds.of(entry) : undefined
    const whole = (await kind?.create?.(writer, { maker, entry, place: now, request, body, hash })) ?? entry
    await writer.insert(whole)
    await kind?.complete?.(writer, whole, body)
    if (now.list) {
      await joinList(writer, now.list, whole, true)
      await writer.updateHead(now.list, now.list)
    }
    return entry
  }

  /** The entry with what it inherits from its list and its template. */
  async #withInherited(
    tx: Queries,
    caller: Caller,
    entry: Entry,
    place: Place,
    request: CreationRequest,
  ): Promise<Entry> {
    if (request.listUri !== undefined) requireList(place.list)
    const inherited = inheriting(caller, entry, place)
    if (request.templateUri === undefined || entry.entryType === 'Reference') return inherited
    const template = await readTemplate(tx, caller, place, request.templateUri)
    return { ...inherited, metadata: fromTemplate(entry.metadata, resourceOf(entry), template) }
  }

  /** A user with memberships and, if wanted, a context of their own, which becomes their home. All of it or nothing. */
  async createUser(caller: Caller, { space, groups, fullName, email, ...resource }: NewUser): Promise<CreatedUser> {
    const groupUris = groups.map(id => entryUri({ context: PRINCIPALS, id }))
    const metadata = (id: string): Graph => describePerson(principalUri(id), { fullName, email })
    const user = await this.#prepare(caller, PRINCIPALS, {
      ...localEntry('User', id => ({ resource, metadata: metadata(id) })),
      groupUris,
    })
    const title = space?.title ?? fullName ?? resource.name
    const about = (id: string): string => resourceUri({ context: CONTEXTS, id })
    const home =
      space &&
      (await this.#prepare(
        caller,
        CONTEXTS,
        localEntry('Context', id => ({
          resource: space.quota === undefined ? {} : { quota: space.quota },
          metadata: graphOf([{ subject: about(id), predicate: dct.title, object: literal(title) }]),
        })),
      ))
    return await this.#deps.changes.run(caller, async writer => {
      const { id } = await this.#insert(writer, user)
      if (!home) return { id, homecontext: undefined }
      const acl = { admin: [principalUri(id)] }
      const { id: homecontext } = await this.#insert(writer, home, context => ({ ...context, acl }))
      await setHomeContext(writer.tx, id, homecontext)
      return { id, homecontext }
    })
  }

  /** A group together with a context that its members may write to (W3.9); resolves to the group's entry. */
  async createGroupWithContext(
    caller: Caller,
    name: string | undefined,
    contextId: string | undefined,
  ): Promise<Entry> {
    const check = (caller: Caller): void => {
      const isOpen = this.#options.groupContextsForAll && !isGuest(caller) && opensContext(caller, CONTEXTS)
      if (isAdmin(caller) || isOpen) return
      throw denied(caller, 'create a group with a context')
    }
    check(caller)
    const groupName = name === undefined ? undefined : groupNameFor(caller, name)
    const contextName = name === undefined ? undefined : requireContextName(name)
    const by = caller.user.id
    const owner = [principalUri(by)]
    return await this.#deps.changes.run(caller, async writer => {
      check(writer.caller)
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
      await this.#deps.contexts.open(tx, newContextId, contextName)
      await setHomeContext(tx, groupId, newContextId)
      await writer.insert(group)
      await writer.insert(context)
      writer.record(membersChange(groupId, [], [by]))
      return group
    })
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
      externalMetadata: hasExternalMetadata(request)
        ? requireUri(request.externalMetadata, 'cached-external-metadata')
        : undefined,
      metadata: request.entryType === 'Reference' ? emptyGraph : (body.metadata ?? emptyGraph),
      cachedExternalMetadata: hasExternalMetadata(request) ? body.cachedExternalMetadata : undefined,
    })
    // Clients repeat structure and types in `info`; only its ACL and other statements are used here.
    const asked = readInfo(body.info ?? emptyGraph, bare)
    const acl = isOwnAcl(asked.acl) ? asked.acl : (this.#deps.kinds.of(bare).initialAcl?.(id) ?? {})
    return { ...bare, acl, statements: asked.statements }
  }
}

/** The request for a local entry with nothing but this body. */
export const localEntry = (graphType: GraphType, body: (newId: string) => CreationBody): CreationRequest => ({
  id: undefined,
  resource: undefined,
  externalMetadata: undefined,
  entryType: 'Local',
  graphType,
  namedResource: false,
  groupUris: [],
  listUri: undefined,
  templateUri: undefined,
  body: async () => body,
})

/** @throws {InvalidInput} for an address that is none */
function describePerson(subject: string, { fullName, email }: Pick<NewUser, 'fullName' | 'email'>): Graph {
  if (email !== undefined && !isMailAddress(email))
    throw new InvalidInput('invalid-value', '`email` must be an e-mail address, such as anna@example.org.')
  const name = fullName === undefined ? [] : [{ subject, predicate: foaf.name, object: literal(fullName) }]
  const mbox = email === undefined ? [] : [{ subject, predicate: foaf.mbox, object: uri(`mailto:${email}`) }]
  return graphOf([...name, ...mbox])
}

/** Checks which kinds of entry a context accepts. @throws {InvalidInput} */
function requirePossible(kinds: Kinds, context: string, request: CreationRequest): void {
  const wrong = (why: string): InvalidInput => new InvalidInput('invalid-type', why)
  const { graphType } = request
  if (!kinds.ofType[graphType].isCreatable) throw wrong(`An entry of graph type ${graphType} cannot be created.`)
  const { home } = kinds.of(request)
  if (context === CONTEXTS && home !== CONTEXTS) throw wrong('Only contexts can be created in _contexts.')
  if (context !== CONTEXTS && home === CONTEXTS) throw wrong('A context can only be created in _contexts.')
  if (context !== PRINCIPALS && home === PRINCIPALS) {
    throw wrong('Users and groups can only be created in _principals.')
  }
}

/** The requested id if it is free, otherwise the next number. */
async function freeId(tx: Queries, context: string, wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return await nextId(tx, context)
  const isSystemContext = context === CONTEXTS || context === PRINCIPALS
  const isReserved = wanted === NEW_ID || (isSystemContext && (wanted.startsWith('_') || isReservedSegment(wanted)))
  if (!isId(wanted) || isReserved) {
    throw new InvalidInput(
      'invalid-id',
      `\`id\` must consist of 1 to 128 letters (A-Z, a-z), digits, "_" and "-" and must not be reserved, but is "${wanted.slice(0, 140)}".`,
    )
  }
  const isNameOfContext = context === CONTEXTS && (await findContext(tx, wanted)) !== undefined
  if (isNameOfContext || !(await isIdFree(tx, { context, id: wanted }))) {
    throw new Conflict('id-taken', `The id "${wanted}" is taken in context ${context}.`)
  }
  return wanted
}

const MAX_URI = 16_384

function requireUri(value: string | undefined, parameter: string): string {
  if (value === undefined) throw new InvalidInput('invalid-uri', `The parameter \`${parameter}\` is missing.`)
  if (value.length > MAX_URI)
    throw new InvalidInput(
      'invalid-uri',
      `The parameter \`${parameter}\` must have at most ${MAX_URI} characters, but has ${value.length}.`,
    )
  if (value.startsWith(RELATIVE) || isAbsoluteIri(value)) return value
  throw new InvalidInput('invalid-uri', `The parameter \`${parameter}\` must be an absolute URI, but is "${value}".`)
}
