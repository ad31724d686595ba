import { denied, isAdmin } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import { opensContext } from '../../accounts/token-scopes.ts'
import { InvalidInput, NotFound, Overloaded } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { placeFor, requireList } from '../../content/creation-place.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { findEntryHead } from '../../content/entry-records.ts'
import type { Read } from '../../content/values.ts'
import { PRINCIPALS, resourceUri } from '../../model/addresses.ts'
import type { Database } from '../../stores/database.ts'
import { credentialOf } from './credential.ts'
import {
  type Destination,
  type Operation,
  type OperationRequest,
  requireRequest,
  requireTexts,
  type Selection,
  type Share,
} from './operation.ts'
import {
  countRunning,
  findOperation,
  forgetBefore,
  forgetSurplus,
  insertEntries,
  insertOperation,
  operationsOf,
} from './operation-rows.ts'
import type { OperationRunner } from './runner.ts'
import type { Selections } from './selections.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly runner: OperationRunner
  readonly selections: Selections
  readonly system: System
}

/** Maximum numbers of running operations, and of finished ones that are kept of one user. */
const MAX_RUNNING_OF_ONE = 5
const MAX_RUNNING = 100
const MAX_KEPT_OF_ONE = 50
/** How long a finished operation is kept. */
const KEPT: Milliseconds = 7 * 86_400_000
const ID_BYTES = 9

/** Operations on many entries: created, shown to their maker and to administrators, and cancelled. */
export class Operations {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Finds the entries and begins with them. Rights are checked when the turn of an entry comes.
   * @throws {InvalidInput} @throws {NotFound} @throws {Forbidden} @throws {TooLarge} `operation-too-large` @throws {Overloaded} `too-many-operations`
   */
  async create(
    caller: Caller,
    contextKey: string,
    read: Read<{ readonly request: OperationRequest; readonly selection: Selection }>,
  ): Promise<Operation> {
    const { database, loader, runner, selections, system } = this.#deps
    const { context, entry: contextEntry } = await loader.getContext(contextKey)
    if (!opensContext(caller, context.id)) throw denied(caller, `change entries in context ${context.id}`)
    const body = await read()
    requireTexts(body.request, body.selection)
    const to = body.request.to && (await this.#destination(caller, context.id, body.request.to))
    const request = { ...body.request, ...(to && { to }) }
    requireRequest(context.id, request, body.selection)
    if (request.share) await this.#requirePrincipal(request.share)
    const { action } = request
    const entries = await selections.find(caller, {
      context: context.id,
      contextEntry,
      action,
      selection: body.selection,
    })
    const id = Buffer.from(system.randomBytes(ID_BYTES)).toString('base64url')
    const operation = await database.transaction(async tx => {
      const { user } = await presentCaller(tx, caller)
      if ((await countRunning(tx, user.id)) >= MAX_RUNNING_OF_ONE) throw tooManyOfOne()
      if ((await countRunning(tx)) >= MAX_RUNNING)
        throw new Overloaded(`${MAX_RUNNING} operations are running. Try again when some have finished.`, 10)
      const made = { id, context: context.id, maker: user.id, request, total: entries.length, created: system.now() }
      await insertOperation(tx, { ...made, credential: credentialOf(caller) }, runner.claimant)
      await insertEntries(tx, id, entries)
      await forgetSurplus(tx, user.id, MAX_KEPT_OF_ONE)
      return await findOperation(tx, id)
    })
    if (!operation) throw new TypeError('the operation has just been written')
    runner.begin(operation, caller)
    return operation
  }

  /** @throws {NotFound} also for those of others */
  async get(caller: Caller, contextKey: string, id: string): Promise<Operation> {
    const { database, loader } = this.#deps
    const { context } = await loader.getContext(contextKey)
    const operation = await findOperation(database, id)
    const isVisible = operation && (operation.maker === caller.user.id || isAdmin(caller))
    if (isVisible && operation.context === context.id && opensContext(caller, context.id)) return operation
    throw new NotFound('not-found', `There is no operation "${id}" in context ${context.id}.`)
  }

  /** Those of the caller in a context, for administrators those of everybody; the latest first. */
  async list(caller: Caller, contextKey: string, page: { readonly limit: number; readonly offset: number }) {
    const { database, loader } = this.#deps
    const { context } = await loader.getContext(contextKey)
    if (!opensContext(caller, context.id)) return { items: [], results: 0 }
    const maker = isAdmin(caller) ? undefined : caller.user.id
    return await operationsOf(database, { context: context.id, maker }, page)
  }

  /** Ends an operation after the portion under way; what is done stays. Does nothing when it is over. @throws {NotFound} */
  async cancel(caller: Caller, contextKey: string, id: string): Promise<void> {
    const operation = await this.get(caller, contextKey, id)
    await this.#deps.runner.end(operation.id, { state: 'cancelled', by: caller })
  }

  /** Forgets what finished long ago. */
  async expire(): Promise<void> {
    const { database, system } = this.#deps
    await database.transaction(tx => forgetBefore(tx, system.now() - KEPT))
  }

  /** Refuses at once what the action would refuse for every entry. The place is checked again with each entry. */
  async #destination(caller: Caller, from: string, { context: key, list }: Destination): Promise<Destination> {
    const { database, loader } = this.#deps
    const { context } = await loader.getContext(key)
    if (list === undefined && context.id === from) return { context: context.id }
    const listUri = list === undefined ? undefined : resourceUri({ context: context.id, id: list })
    const place = await placeFor(database, caller, context.id, listUri)
    if (list !== undefined) requireList(place.list)
    return { context: context.id, list }
  }

  async #requirePrincipal({ principal }: Share): Promise<void> {
    if (await findEntryHead(this.#deps.database, { context: PRINCIPALS, id: principal })) return
    throw new InvalidInput('invalid-value', `There is no user or group "${principal}".`)
  }
}

const tooManyOfOne = (): Overloaded =>
  new Overloaded(
    `${MAX_RUNNING_OF_ONE} of your operations are running. Wait for one of them, or cancel one.`,
    5,
    'too-many-operations',
  )
