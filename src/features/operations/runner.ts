import type { Audit, AuditEntry } from '../../accounts/audit.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { CredentialKind } from '../../accounts/credential-kinds.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import type { Sessions } from '../../accounts/sessions.ts'
import { Conflict, FileUnreadable, Overloaded, ServiceError, StorageFull, Unauthenticated } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { Mutex } from '../../base/semaphore.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { Changes, EntryWriter } from '../../content/changes.ts'
import type { Files } from '../../files/files.ts'
import { QuotaExceeded } from '../../files/quota-usage.ts'
import type { UsageChange } from '../../files/quota-thresholds.ts'
import { type Database, type Queries, withSavepoint } from '../../stores/database.ts'
import { callerFrom } from './credential.ts'
import type { EntryCopies } from './entry-copies.ts'
import type { Failure, Operation, PlannedEntry, State } from './operation.ts'
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
import type { createSteps } from './steps.ts'

interface Dependencies {
  readonly audit: Audit
  readonly changes: Changes
  readonly copies: EntryCopies
  readonly credentials: readonly CredentialKind[]
  readonly database: Database
  readonly files: Files
  readonly log: Log
  readonly sessions: Sessions
  readonly steps: ReturnType<typeof createSteps>
  readonly system: System
}

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

/** How an operation ends, and who has ended it. */
interface End {
  readonly state: Exclude<State, 'running'>
  readonly error?: Pick<ServiceError, 'code' | 'message'>
  readonly by?: Pick<Caller, 'user' | 'client'>
}

/**
 * Carries operations out: portions of all that run here take turns, so that at most one portion and one copy are under way. The portion notes
 * in its transaction how far the operation is, so a step is neither left out nor done twice, whatever ends the process.
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
      const caller = await callerFrom(this.#deps, operation.maker, credential)
      if (caller) this.begin(operation, caller)
      else await this.end(operation.id, { state: 'ended', error: sessionEnded() })
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
    const [turn, work] =
      request.action === 'copy'
        ? [this.#copies, () => this.#copyNext(running)]
        : [this.#portions, () => this.#doPortion(running)]
    try {
      while (!this.#stopping.signal.aborted && (await turn.run(work))) continue
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

  /** Does the next steps in one transaction. Resolves to whether there is more to do here. */
  async #doPortion(running: Running): Promise<boolean> {
    try {
      return await this.#doTogether(running, step => step())
    } catch (error) {
      if (!isOfEntry(error)) throw error
      // Once more, so that only what fails is undone.
      return await this.#doTogether(running, (step, tx) => withSavepoint(tx, step), true)
    }
  }

  async #doTogether(
    { operation: { id }, caller }: Running,
    attempt: (step: () => Promise<readonly UsageChange[]>, tx: Queries) => Promise<readonly UsageChange[]>,
    keepsFailures = false,
  ): Promise<boolean> {
    const { changes, files, steps, system } = this.#deps
    const done = await changes.run(
      caller,
      async writer => {
        const present = await renewClaim(writer.tx, id, this.#claimant)
        if (present === undefined || present.request.action === 'copy') return undefined
        const step = steps[present.request.action]
        const usage: UsageChange[] = []
        let [position, failed, failures] = [present.position, present.failed, present.failures]
        const begun = system.monotonic()
        for (const entry of await nextEntries(writer.tx, present, PORTION)) {
          const forget = writer.beginStep()
          try {
            usage.push(...(await attempt(() => step(writer, entry, present.request), writer.tx)))
          } catch (error) {
            if (!keepsFailures || !isOfEntry(error)) throw error
            forget()
            failed++
            failures = withFailure(failures, entry, error)
          }
          ;({ position } = entry)
          if (system.monotonic() - begun > PORTION_TIME) break
        }
        // One event is about all steps, except changes of rights.
        writer.forgetRecorded()
        await advance(writer.tx, id, { position, failed, failures })
        return { usage, isOver: position >= present.total }
      },
      { ownCommit: true },
    )
    if (!done) return false
    await files.reportThresholds(done.usage)
    if (done.isOver) await this.end(id, { state: 'done' })
    return !done.isOver
  }

  /** Copies the next entry. Resolves to whether there is more to do here. */
  async #copyNext({ operation: { id }, caller }: Running): Promise<boolean> {
    const { changes, copies, database } = this.#deps
    const present = await findOperation(database, id)
    if (present?.state !== 'running') return false
    const [entry] = await nextEntries(database, present, 1)
    const { to } = present.request
    if (!entry || !to) {
      await this.end(id, { state: 'done' })
      return false
    }
    const note = async (writer: EntryWriter, failure?: ServiceError): Promise<void> => {
      const claimed = await renewClaim(writer.tx, id, this.#claimant)
      if (claimed?.position !== present.position) throw new Superseded()
      const failed = claimed.failed + (failure ? 1 : 0)
      const failures = failure ? withFailure(claimed.failures, entry, failure) : claimed.failures
      writer.forgetRecorded()
      await advance(writer.tx, id, { position: entry.position, failed, failures })
    }
    try {
      await copies.copy(await presentCaller(database, caller), {
        from: entry,
        to: await placeOfCopy(database, id, to, entry),
        signal: this.#stopping.signal,
        within: async (writer, copy) => {
          await note(writer)
          await noteCopy(writer.tx, id, entry.position, copy.id)
        },
      })
    } catch (error) {
      if (error instanceof Superseded) return false
      if (!isOfEntry(error)) throw error
      try {
        await changes.run(caller, writer => note(writer, error))
      } catch (again) {
        if (again instanceof Superseded) return false
        throw again
      }
    }
    return true
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

/** The operation has been cancelled, or another process goes on with it. Nothing of the step is kept. */
class Superseded extends Error {}

/** What is in a copied list is copied into its copy. @throws {Conflict} when that list could not be copied */
async function placeOfCopy(
  database: Database,
  operation: string,
  to: NonNullable<Operation['request']['to']>,
  entry: PlannedEntry,
) {
  if (entry.list === undefined) return to
  const list = await copyOf(database, operation, entry.list)
  if (list !== undefined) return { context: to.context, list }
  throw new Conflict('conflict', `The list "${entry.list}" that it is in was not copied.`)
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

/** One event for all steps. */
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
