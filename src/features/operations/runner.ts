import type { Audit, AuditEntry } from '../../accounts/audit.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { CredentialKind } from '../../accounts/credential-kinds.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import { FileUnreadable, Overloaded, ServiceError, StorageFull, Unauthenticated } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { Mutex } from '../../base/semaphore.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Changes } from '../../content/changes.ts'
import type { Files } from '../../files/files.ts'
import { QuotaExceeded } from '../../files/quota-usage.ts'
import type { UsageChange } from '../../files/quota-thresholds.ts'
import { type Database, type Queries, withSavepoint } from '../../stores/database.ts'
import { callerFrom } from './credential.ts'
import type { Copying, EntryCopies } from './entry-copies.ts'
import type { Destination, Failure, Operation, PlannedEntry, State } from './operation.ts'
import {
  advance,
  type Claimant,
  claimAbandoned,
  copyOf,
  endOperation,
  findOperation,
  nextEntries,
  noteCopy,
  releaseClaim,
  releaseClaims,
  renewClaim,
} from './operation-rows.ts'
import type { createEntryActions, EntryAction } from './entry-actions.ts'

interface Dependencies {
  readonly audit: Audit
  readonly changes: Changes
  readonly copies: EntryCopies
  readonly credentials: readonly CredentialKind[]
  readonly database: Database
  readonly files: Files
  readonly log: Log
  readonly sessions: Sessions
  readonly entryActions: ReturnType<typeof createEntryActions>
  readonly system: System
}

/** Entries that are copied together. */
const COPIES = 16
/** Entries of one portion, and the time after which it ends before that: other changes wait for it. */
const PORTION = 100
const PORTION_TIME: Milliseconds = 40
/** A claim that was not renewed for this long belongs to a process that has died. */
const CLAIM_TTL: Milliseconds = 60_000
/** Failures that are kept of one operation; the others are counted. */
export const MAX_FAILURES = 100
const MAX_REASON_CHARACTERS = 500

interface Running {
  readonly operation: Operation
  readonly caller: Caller
}

/** What one transaction has done. */
interface Portion {
  /** Number of entries for which the action has failed. */
  readonly failed: number
  readonly isOver: boolean
}

/** How an operation ends, and who has ended it. */
interface End {
  readonly state: Exclude<State, 'running'>
  readonly error?: Pick<ServiceError, 'code' | 'message'>
  readonly by?: Pick<Caller, 'user' | 'client'>
}

/**
 * Carries operations out: portions of all that run here take turns, so that at most one portion and one copy are under way. The portion notes
 * in its transaction how far the operation is, so no entry is left out or handled twice, whatever ends the process.
 */
export class OperationRunner {
  readonly #deps: Dependencies
  readonly #claimant: Claimant
  readonly #portions = new Mutex()
  readonly #copies = new Mutex()
  readonly #running = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  #heartbeat: NodeJS.Timeout | undefined

  constructor(deps: Dependencies) {
    this.#deps = deps
    const claim = Buffer.from(deps.system.randomBytes(16)).toString('hex')
    this.#claimant = { claim, system: deps.system }
  }

  /** Of the operations that are created in this process. */
  get claimant(): Claimant {
    return this.#claimant
  }

  /** Goes on with an operation that this process has claimed. */
  begin(operation: Operation, caller: Caller): void {
    const { id } = operation
    if (this.#running.has(id) || this.#stopping.signal.aborted) return
    this.#heartbeat ??= setInterval(() => void this.#renew(), CLAIM_TTL / 4).unref()
    const work = this.#run({ operation, caller })
      .catch((err: unknown) => this.#deps.log.error({ err, operation: id }, 'an operation cannot go on'))
      .finally(() => this.#running.delete(id))
    this.#running.set(id, work)
  }

  /** No other process uses the store, so those that carried operations out have ended. */
  async releaseAll(): Promise<void> {
    await this.#deps.database.transaction(tx => releaseClaims(tx))
  }

  /** Goes on with operations whose process has ended. */
  async takeOver(): Promise<void> {
    const { database } = this.#deps
    if (this.#stopping.signal.aborted) return
    const claimed = await database.transaction(tx => claimAbandoned(tx, this.#claimant, CLAIM_TTL))
    for (const { operation, credential } of claimed) {
      try {
        const caller = await callerFrom(this.#deps, operation.maker, credential)
        if (caller) this.begin(operation, caller)
        else await this.end(operation.id, { state: 'ended', error: sessionEnded() })
      } catch (err) {
        // The store of the sessions may be away: the next round tries again.
        this.#deps.log.warn({ err, operation: operation.id }, 'an operation is interrupted')
        await this.#release(tx => releaseClaim(tx, operation.id, this.#claimant.claim))
      }
    }
  }

  /** Ends an operation, and records it. Does nothing when it is not running. */
  async end(id: string, { state, error, by }: End): Promise<void> {
    const { audit, database, system } = this.#deps
    const reason = error?.message.slice(0, MAX_REASON_CHARACTERS)
    const entry = await database.transaction(async tx => {
      const ended = await endOperation(tx, id, { state, code: error?.code, reason }, system.now())
      if (!ended) return undefined
      const entry = endEvent(ended, by)
      await audit.insert(tx, entry)
      return entry
    })
    if (entry) audit.announce(entry)
  }

  /** Lets the portions under way finish, and others go on later. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Overloaded('The service stops.'))
    clearInterval(this.#heartbeat)
    await Promise.all(this.#running.values())
    await this.#release(tx => releaseClaims(tx, this.#claimant.claim))
  }

  /** Without it, others go on only when the claim has ended. */
  async #release(release: (tx: Queries) => Promise<void>): Promise<void> {
    await this.#deps.database
      .transaction(release)
      .catch((err: unknown) => this.#deps.log.warn({ err }, 'an operation could not be released'))
  }

  async #run(running: Running): Promise<void> {
    const { operation } = running
    const { id, request } = operation
    const turn = request.action === 'copy' ? this.#copies : this.#portions
    try {
      while (!this.#stopping.signal.aborted && (await turn.run(() => this.#doPortion(running)))) continue
      if (request.action === 'purge') void this.#deps.files.collectGarbage()
    } catch (error) {
      if (error instanceof Unauthenticated || error instanceof StorageFull)
        return await this.end(id, { state: 'ended', error })
      // Something that may pass: this process or another one goes on within a minute.
      if (error instanceof Overloaded) {
        if (!this.#stopping.signal.aborted)
          this.#deps.log.warn({ err: error, operation: id }, 'an operation is interrupted')
        return await this.#release(tx => releaseClaim(tx, id, this.#claimant.claim))
      }
      this.#deps.log.error({ err: error, operation: id }, 'an operation has failed')
      await this.end(id, { state: 'ended', error: internalError })
    }
  }

  /** Handles the next entries in one transaction. Resolves to whether there is more to do here. */
  async #doPortion(running: Running): Promise<boolean> {
    const { action } = running.operation.request
    if (action === 'copy') return await this.#copyNext(running)
    const done = await this.#doTogether(running, this.#deps.entryActions[action], { limit: PORTION })
    return done?.isOver === false
  }

  /**
   * Handles entries in one transaction. If the action fails for one of them, only what it has written for that entry is undone. Resolves to `undefined` when nothing was to be done here.
   * @param part `from` is the position from which on entries are done
   */
  async #doTogether(
    { operation: { id }, caller }: Running,
    act: EntryAction,
    { limit, from }: { readonly limit: number; readonly from?: number },
  ): Promise<Portion | undefined> {
    const { changes, files, system } = this.#deps
    const done = await changes.run(
      caller,
      async writer => {
        const present = await renewClaim(writer.tx, id, this.#claimant)
        if (present === undefined || (from !== undefined && present.position !== from)) return undefined
        const usage: UsageChange[] = []
        let [position, failed, failures] = [present.position, present.failed, present.failures]
        const begun = system.monotonic()
        for (const entry of await nextEntries(writer.tx, present, limit)) {
          const forget = writer.beginStep()
          try {
            usage.push(...(await withSavepoint(writer.tx, () => act(writer, entry, present.request))))
          } catch (error) {
            if (!isOfEntry(error)) throw error
            forget()
            failed++
            failures = withFailure(failures, entry, error)
          }
          ;({ position } = entry)
          if (from === undefined && system.monotonic() - begun > PORTION_TIME) break
        }
        // The operation has one event at its end; only changes of rights stay on record one by one.
        writer.forgetRecorded()
        await advance(writer.tx, id, { position, failed, failures })
        return { usage, failed: failed - present.failed, isOver: position >= present.total }
      },
      { ownCommit: true },
    )
    if (!done) return undefined
    await files.reportThresholds(done.usage)
    if (done.isOver) await this.end(id, { state: 'done' })
    return done
  }

  /** Stores the bytes of the next copies, then creates them in one transaction. Resolves to whether there is more to do here. */
  async #copyNext(running: Running): Promise<boolean> {
    const { copies, database } = this.#deps
    const present = await findOperation(database, running.operation.id)
    const { to } = present?.request ?? {}
    if (present?.state !== 'running' || !to) return false
    const planned = await nextEntries(database, present, COPIES)
    const wanted = await placesOfCopies(database, present.id, to, planned)
    const prepared = await copies.prepare(await presentCaller(database, running.caller), wanted, this.#stopping.signal)
    const ready = prepared.flatMap(one => ('reason' in one ? [] : one))
    const act: EntryAction = async (writer, { position }) => {
      const one = prepared[planned.findIndex(entry => entry.position === position)]
      if (!one) throw new TypeError(`the entry at ${position} has not been prepared`)
      if ('reason' in one) throw one.reason
      const { copy, usage } = await copies.insert(writer, one)
      await noteCopy(writer.tx, present.id, position, copy.id)
      return usage
    }
    try {
      const done = await this.#doTogether(running, act, { limit: prepared.length, from: present.position })
      await copies.release(ready, done?.failed === 0 ? undefined : new Superseded())
      return done?.isOver === false
    } catch (error) {
      await copies.release(ready, error)
      throw error
    }
  }

  /** A copy of a large file takes longer than a claim lasts. */
  async #renew(): Promise<void> {
    for (const id of this.#running.keys()) {
      await this.#deps.database
        .transaction(tx => renewClaim(tx, id, this.#claimant), { durability: 'relaxed' })
        .catch((err: unknown) => this.#deps.log.warn({ err }, 'an operation could not be renewed'))
    }
  }
}

/** Some copies have not been created, or the operation has been cancelled, or another process goes on with it. */
class Superseded extends Error {}

/** What is in a copied list is copied into its copy. Ends before an entry whose list is copied only now. */
async function placesOfCopies(
  database: Database,
  operation: string,
  to: Destination,
  planned: readonly PlannedEntry[],
): Promise<readonly Copying[]> {
  const places: Copying[] = []
  const copied = new Set<string>()
  for (const { list, ...from } of planned) {
    if (list !== undefined && copied.has(list)) break
    const copy = list === undefined ? to.list : ((await copyOf(database, operation, list)) ?? null)
    places.push({ from, to: copy === null ? undefined : { context: to.context, list: copy } })
    copied.add(from.id)
  }
  return places
}

/** Whether an error concerns one entry, so that the operation goes on with the next. */
const isOfEntry = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  !(error instanceof Unauthenticated || error instanceof StorageFull) &&
  (error instanceof FileUnreadable || !(error instanceof Overloaded))

function withFailure(failures: readonly Failure[], { id }: PlannedEntry, error: ServiceError): readonly Failure[] {
  if (failures.length >= MAX_FAILURES) return failures
  // The maker may not be allowed to know the numbers of a quota.
  const { code, message } = error instanceof QuotaExceeded ? error.withoutNumbers() : error
  return [...failures, { entry: id, code, reason: message.slice(0, MAX_REASON_CHARACTERS) }]
}

const sessionEnded = (): Unauthenticated =>
  new Unauthenticated('not-signed-in', 'Your session has ended. Sign in again.')

const internalError = { code: 'internal-error', message: 'The service could not go on. The log says why.' } as const

/** The event of the whole operation. */
function endEvent({ context, maker, request, position, failed, state }: Operation, by: End['by']): AuditEntry {
  const { action, to, share, tags } = request
  const detail = {
    context,
    operation: action,
    entries: position - failed,
    failed,
    state,
    ...(to && { to: to.list === undefined ? to.context : `${to.context}/${to.list}` }),
    ...(share && { user: share.principal, role: share.role }),
    ...(tags && { added: tags.add.join(', '), removed: tags.remove.join(', ') }),
  }
  return { event: 'operation-ended', userId: maker, actorId: by?.user.id ?? maker, address: by?.client.address, detail }
}
