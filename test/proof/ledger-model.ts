import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { TooLarge } from '../../src/base/errors.ts'
import { discardBlob, moveFile, putFile, removeFile, removeFilesOf } from '../../src/files/file-records.ts'
import { Ledger, quotaObject, type Reservation } from '../../src/files/quota-ledger.ts'
import { forgetUserQuota, type Limits, QuotaOwners } from '../../src/files/quota-owners.ts'
import type { Amount, QuotaOptions, QuotaOwner } from '../../src/files/quota-usage.ts'
import { compareUsage } from '../../src/files/recount.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { name, sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'
import type { Extent } from './extent.ts'

const CONTEXTS = ['c1', 'c2', 'c3']
const USERS = ['u1', 'u2']
const GROUPS = ['g1', 'g2']
const UNITS = ['bytes', 'files'] as const

/** What one file, or one upload in progress, counts, and for whom. */
interface Item {
  context: string
  user: string | null
  amount: Amount
}

interface StoredFile extends Item {
  readonly id: string
}

interface Upload extends Item {
  readonly reservation: Reservation
  /** The id of the file that it will be. */
  readonly id: string
  /** The blob whose storage it uses instead of reserving it, and how much that is. */
  credit: { readonly blob: string; readonly bytes: number } | undefined
}

const which = fc.nat()
const context = fc.constantFrom(...CONTEXTS)
const limit = fc.oneof(fc.constantFrom(null, -1, 0), fc.nat({ max: 1500 }))
const owner: fc.Arbitrary<QuotaOwner> = fc.oneof(
  fc.record({ kind: fc.constant('context' as const), id: context }),
  fc.record({ kind: fc.constant('user' as const), id: fc.constantFrom(...USERS) }),
  fc.record({ kind: fc.constant('group' as const), id: fc.constantFrom(...GROUPS) }),
  fc.constant({ kind: 'store' as const, id: '' }),
)

const action = fc.oneof(
  fc.record({
    type: fc.constant('reserve' as const),
    context,
    user: fc.constantFrom(...USERS, null),
    bytes: fc.nat({ max: 400 }),
  }),
  fc.record({ type: fc.constant('grow' as const), which, needed: fc.nat({ max: 200 }), more: fc.nat({ max: 300 }) }),
  fc.record({ type: fc.constant('commit' as const), which, bytes: fc.nat({ max: 500 }) }),
  fc.record({ type: fc.constant('cancel' as const), which }),
  fc.record({
    type: fc.constant('join' as const),
    which,
    other: which,
    context,
    user: fc.constantFrom(...USERS, null),
  }),
  fc.record({ type: fc.constant('replace' as const), which, bytes: fc.nat({ max: 400 }) }),
  fc.record({ type: fc.constant('remove' as const), which }),
  fc.record({ type: fc.constant('move' as const), which, context }),
  fc.record({ type: fc.constant('limit' as const), owner, bytes: limit, files: fc.constantFrom(null, null, 0, 2, 5) }),
  fc.record({ type: fc.constant('unlimit' as const), owner }),
  fc.record({
    type: fc.constant('group' as const),
    group: fc.constantFrom(...GROUPS),
    contexts: fc.subarray(CONTEXTS),
  }),
  fc.record({ type: fc.constant('deleteContext' as const), context }),
  fc.record({ type: fc.constant('deleteUser' as const), user: fc.constantFrom(...USERS) }),
)

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never
type Of<T extends Action['type']> = Extract<Action, { readonly type: T }>

/**
 * Whatever is reserved, grown, committed, replaced, removed, moved, grouped or limited, the ledger agrees with the model after
 * every step, for contexts, users, groups of contexts and the store (D7.3). Resolves to the number of operations that
 * were compared; a failure names the seed and the shrunk steps.
 */
export async function proveLedger(options: QuotaOptions, { runs, seed }: Extent): Promise<number> {
  const database = await openSqliteDatabase(':memory:')
  await migrate(database, schema)
  let operations = 0
  const property = fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 40, size: 'max' }), async actions => {
    operations += actions.length
    const books = new Books(database, options)
    await books.open()
    for (const step of actions) {
      await books.take(step)
      await books.compare()
    }
  })
  try {
    await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) })
    return operations
  } finally {
    await database.close()
  }
}

/** The ledger and its model, which take each step together. */
class Books {
  readonly #database: Database
  readonly #options: QuotaOptions
  readonly #ledger: Ledger
  readonly #owners: QuotaOwners
  /** By the blob. */
  readonly #files = new Map<string, StoredFile>()
  readonly #uploads = new Map<string, Upload>()
  readonly #limits = new Map<string, Limits>()
  readonly #groups = new Map<string, string>()
  readonly #users = new Set(USERS)
  readonly #contexts = new Set(CONTEXTS)
  #number = 0

  constructor(database: Database, options: QuotaOptions) {
    this.#database = database
    this.#options = options
    this.#ledger = new Ledger(database, new FakeSystem(), options)
    this.#owners = new QuotaOwners(this.#ledger.usage)
  }

  async open(): Promise<void> {
    await this.#database.transaction(async tx => {
      for (const table of ['files', 'uploads', 'quota_usage', 'quota_groups', 'contexts', 'discarded_blobs'])
        await tx.run(sql`DELETE FROM ${name(table)}`)
      await tx.run(sql`DELETE FROM principals WHERE id IN ('u1', 'u2')`)
      for (const id of USERS) await tx.run(sql`INSERT INTO principals (id, kind, name) VALUES (${id}, 'user', ${id})`)
      for (const id of CONTEXTS) {
        await tx.run(sql`INSERT INTO contexts (id) VALUES (${id})`)
        await this.#ledger.open(tx, id)
      }
    })
  }

  /** Every row has the sums of the model, which are also those of the tables. */
  async compare(): Promise<void> {
    const rows = await compareUsage(this.#database)
    for (const { kind, owner: id, ...row } of rows) {
      const [used, reserved] = [this.#sum(this.#files, { kind, id }), this.#sum(this.#uploads, { kind, id })]
      const { used: bytes, files, reserved: reservedBytes, reservedFiles, ...sums } = row
      const expected = {
        bytes: used.bytes,
        files: used.files,
        reservedBytes: reserved.bytes,
        reservedFiles: reserved.files,
      }
      assert.deepEqual({ bytes, files, reservedBytes, reservedFiles }, expected, `${kind} ${id}`)
      assert.deepEqual(
        { ...sums },
        { usedSum: bytes, filesSum: files, reservedSum: reservedBytes, reservedFilesSum: reservedFiles },
      )
    }
    for (const id of this.#contexts) {
      const limits = this.#limits.get(`context ${id}`)
      assert.deepEqual(quotaObject(await this.#ledger.quotaOf(this.#database, id)), {
        quota: limits?.bytes ?? this.#options.defaults.context,
        fillLevel: this.#sum(this.#files, { kind: 'context', id }).bytes,
        hasDefaultQuota: (limits?.bytes ?? null) === null,
      })
    }
  }

  async take(step: Action): Promise<void> {
    switch (step.type) {
      case 'reserve':
        return await this.#reserve(step)
      case 'grow':
        return await this.#grow(step)
      case 'commit':
        return await this.#commit(step)
      case 'cancel':
        return await this.#cancel(step)
      case 'join':
        return await this.#join(step)
      case 'replace':
        return await this.#replace(step)
      case 'remove':
        return await this.#remove(step)
      case 'move':
        return await this.#move(step)
      case 'limit':
        return await this.#limit(step)
      case 'unlimit':
        return await this.#unlimit(step)
      case 'group':
        return await this.#group(step)
      case 'deleteContext':
        return await this.#deleteContext(step)
      case 'deleteUser':
        return await this.#deleteUser(step)
    }
  }

  #sum(items: ReadonlyMap<string, Item>, { kind, id }: QuotaOwner): Amount {
    const mine = [...items.values()].filter(item => {
      if (kind === 'context') return item.context === id
      if (kind === 'user') return item.user === id
      return kind === 'store' || this.#groups.get(item.context) === id
    })
    return mine.reduce((sum, { amount }) => ({ bytes: sum.bytes + amount.bytes, files: sum.files + amount.files }), {
      bytes: 0,
      files: 0,
    })
  }

  #payers({ context: id, user }: Pick<Item, 'context' | 'user'>): QuotaOwner[] {
    const group = this.#groups.get(id)
    return [
      { kind: 'context', id },
      ...(user !== null && this.#users.has(user) ? [{ kind: 'user' as const, id: user }] : []),
      ...(group !== undefined ? [{ kind: 'group' as const, id: group }] : []),
      { kind: 'store', id: '' },
    ]
  }

  /** Whether this growth fits for all of these, beside what `except` has reserved. */
  #fits(owners: readonly QuotaOwner[], growth: Amount, except?: Item): boolean {
    if (!this.#options.enforced) return true
    return owners.every(owner =>
      UNITS.every(unit => {
        const most = this.#limitOf(owner)[unit]
        const held = this.#sum(this.#files, owner)[unit] + this.#sum(this.#uploads, owner)[unit]
        return growth[unit] <= 0 || most === -1 || held - (except?.amount[unit] ?? 0) + growth[unit] <= most
      }),
    )
  }

  #limitOf({ kind, id }: QuotaOwner): Amount {
    const { context: ofContext, user } = this.#options.defaults
    const limits = this.#limits.get(`${kind} ${id}`)
    const byDefault = { context: ofContext, user, group: -1, store: -1 }[kind]
    return { bytes: limits?.bytes ?? byDefault, files: limits?.files ?? -1 }
  }

  async #reserve({ context: to, user, bytes }: Of<'reserve'>): Promise<void> {
    const item = { context: to, user, amount: { bytes, files: 1 } }
    const blob = `b${++this.#number}`
    const reserving = this.#ledger.reserve({ context: to, user }, blob, bytes)
    if (!this.#contexts.has(to)) return await assert.rejects(reserving)
    if (!this.#fits(this.#payers(item), item.amount)) return await assert.rejects(reserving, TooLarge)
    this.#uploads.set(blob, { ...item, id: blob, reservation: await reserving, credit: undefined })
  }

  async #grow({ which: at, needed, more }: Of<'grow'>): Promise<void> {
    const upload = pick(this.#uploads, at)
    if (!upload) return
    const growing = this.#ledger.grow(upload.reservation, needed, needed + more)
    if (!this.#contexts.has(upload.context)) return await assert.rejects(growing)
    const got = [needed + more, needed].find(bytes => this.#fits(this.#payers(upload), { bytes, files: 0 }))
    if (got === undefined) return await assert.rejects(growing, TooLarge)
    assert.equal(await growing, got)
    upload.amount = { ...upload.amount, bytes: upload.amount.bytes + got }
  }

  async #commit({ which: at, bytes }: Of<'commit'>): Promise<void> {
    const upload = pick(this.#uploads, at)
    if (!upload) return
    const { reservation, context: to, user, id } = upload
    const { blob } = reservation
    const [old, present] = [...this.#files].find(([, file]) => file.context === to && file.id === id) ?? []
    const growth = { bytes: bytes - (present?.amount.bytes ?? 0), files: present ? 0 : 1 }
    const committing = this.#database.transaction(async tx => {
      await this.#ledger.commit(tx, reservation, growth)
      await putFile(tx, { context: to, id, user }, record(blob, bytes))
      if (old !== undefined) await discardBlob(tx, old)
    })
    if (!this.#contexts.has(to)) return await assert.rejects(committing)
    if (!this.#fits(this.#payers(upload), growth, upload)) return await assert.rejects(committing, TooLarge)
    await committing
    this.#uploads.delete(blob)
    if (old !== undefined) this.#takeAway(old)
    this.#files.set(blob, { context: to, id, user, amount: { bytes, files: 1 } })
  }

  /** The blob is no file, or none of its context, any more: the upload that uses its storage reserves it. */
  #takeAway(blob: string): void {
    this.#files.delete(blob)
    for (const upload of this.#uploads.values()) {
      if (upload.credit?.blob !== blob) continue
      upload.amount = { ...upload.amount, bytes: upload.amount.bytes + upload.credit.bytes }
      upload.credit = undefined
    }
  }

  async #cancel({ which: at }: Of<'cancel'>): Promise<void> {
    const upload = pick(this.#uploads, at)
    if (!upload) return
    assert.equal(await this.#ledger.cancel(upload.reservation), true)
    this.#uploads.delete(upload.reservation.blob)
  }

  /** Two uploads become one, also of others than they were: each reservation goes back to those who paid for it. */
  async #join({ which: at, other, context: to, user }: Of<'join'>): Promise<void> {
    const parts = [...new Set([pick(this.#uploads, at), pick(this.#uploads, other)])].flatMap(part => part ?? [])
    if (parts.length < 2) return
    const blob = `b${++this.#number}`
    const bytes = parts.reduce((sum, { amount }) => sum + amount.bytes, 0)
    const item = { context: to, user, amount: { bytes, files: 1 } }
    const own = parts.filter(part => part.context === to && part.user === user)
    const growth = own.reduce(
      (sum, { amount }) => ({ bytes: sum.bytes - amount.bytes, files: sum.files - amount.files }),
      item.amount,
    )
    const others = new Map([...this.#uploads].filter(([, upload]) => !parts.includes(upload)))
    const joining = this.#change(tx =>
      this.#ledger.join(
        tx,
        parts.map(({ reservation }) => reservation.blob),
        { context: to, user, blob },
      ),
    )
    if (!this.#contexts.has(to)) return await assert.rejects(joining)
    if (!this.#fitsInPlace(this.#payers(item), growth, parts, own)) return await assert.rejects(joining, TooLarge)
    await joining
    this.#uploads.clear()
    for (const [key, upload] of others) this.#uploads.set(key, upload)
    this.#uploads.set(blob, {
      ...item,
      id: blob,
      reservation: { context: to, user, blob },
      credit: undefined,
    })
  }

  /** Whether a growth fits once all parts have ended, whose own part is in the growth already. */
  #fitsInPlace(
    owners: readonly QuotaOwner[],
    growth: Amount,
    parts: readonly Upload[],
    own: readonly Upload[],
  ): boolean {
    const gone = parts.filter(part => !own.includes(part))
    return owners.every(owner =>
      UNITS.every(unit => {
        const most = this.#limitOf(owner)[unit]
        const ended = this.#sum(new Map(gone.map(part => [part.reservation.blob, part])), owner)[unit]
        const held = this.#sum(this.#files, owner)[unit] + this.#sum(this.#uploads, owner)[unit] - ended
        return !this.#options.enforced || growth[unit] <= 0 || most === -1 || held + growth[unit] <= most
      }),
    )
  }

  /** An upload in place of a file reserves only the difference; of several at once, the first. */
  async #replace({ which: at, bytes }: Of<'replace'>): Promise<void> {
    const [old, file] = [...this.#files][at % Math.max(1, this.#files.size)] ?? []
    if (old === undefined || !file) return
    const blob = `b${++this.#number}`
    const isFirst = ![...this.#uploads.values()].some(({ credit }) => credit?.blob === old)
    const credit = isFirst ? { blob: old, bytes: file.amount.bytes } : undefined
    const amount = { bytes: Math.max(0, bytes - (credit?.bytes ?? 0)), files: isFirst ? 0 : 1 }
    const reserving = this.#ledger.reserve(file, blob, bytes, record(old, file.amount.bytes))
    if (!this.#fits(this.#payers(file), amount)) return await assert.rejects(reserving, TooLarge)
    this.#uploads.set(blob, { ...file, amount, reservation: await reserving, credit })
  }

  async #remove({ which: at }: Of<'remove'>): Promise<void> {
    const [blob, file] = [...this.#files][at % Math.max(1, this.#files.size)] ?? []
    if (blob === undefined || !file) return
    await this.#database.transaction(async tx => {
      const removed = await removeFile(tx, file)
      assert.ok(removed)
      await this.#ledger.releaseUsage(tx, removed, { bytes: removed.size, files: 1 })
    })
    this.#takeAway(blob)
  }

  async #move({ which: at, context: to }: Of<'move'>): Promise<void> {
    const [blob, file] = [...this.#files][at % Math.max(1, this.#files.size)] ?? []
    if (blob === undefined || !file || file.context === to || !this.#contexts.has(to)) return
    if ([...this.#files.values()].some(({ context: of, id }) => of === to && id === file.id)) return
    const moving = this.#database.transaction(async tx => {
      await this.#ledger.transfer(tx, file.context, to, file.amount)
      await moveFile(tx, file, { context: to, id: file.id })
    })
    const group = this.#groups.get(to)
    const isSameGroup = group === this.#groups.get(file.context)
    const owners: QuotaOwner[] = [
      { kind: 'context', id: to },
      ...(group === undefined || isSameGroup ? [] : [{ kind: 'group' as const, id: group }]),
    ]
    if (!this.#fits(owners, file.amount)) return await assert.rejects(moving, TooLarge)
    await moving
    this.#takeAway(blob)
    this.#files.set(blob, { ...file, context: to })
  }

  async #limit({ owner: { kind, id }, bytes, files }: Of<'limit'>): Promise<void> {
    if (this.#isGone({ kind, id })) return
    await this.#change(tx => this.#owners.setLimits(tx, { kind, id }, { bytes, files }))
    this.#limits.set(`${kind} ${id}`, { bytes, files })
  }

  async #unlimit({ owner: { kind, id } }: Of<'unlimit'>): Promise<void> {
    if (this.#isGone({ kind, id })) return
    if (kind === 'group' && !this.#limits.has(`group ${id}`)) return
    await this.#change(tx => this.#owners.removeLimits(tx, { kind, id }))
    this.#limits.delete(`${kind} ${id}`)
    if (kind === 'group') this.#assign(id, [])
  }

  async #group({ group, contexts }: Of<'group'>): Promise<void> {
    if (!this.#limits.has(`group ${group}`)) return
    const free = contexts.filter(id => this.#contexts.has(id) && [undefined, group].includes(this.#groups.get(id)))
    const owner = { kind: 'group' as const, id: group }
    const [before, groups] = [this.#held(owner), new Map(this.#groups)]
    this.#assign(group, free)
    const [after, most] = [this.#held(owner), this.#limitOf(owner)]
    const setting = this.#change(tx => this.#owners.setContexts(tx, group, free))
    const isTooMuch = UNITS.some(
      unit => after[unit] > before[unit] && most[unit] !== -1 && after[unit] > most[unit] && this.#options.enforced,
    )
    if (!isTooMuch) return await setting
    await assert.rejects(setting, TooLarge)
    this.#groups.clear()
    for (const [id, name] of groups) this.#groups.set(id, name)
  }

  #held(owner: QuotaOwner): Amount {
    const [files, uploads] = [this.#sum(this.#files, owner), this.#sum(this.#uploads, owner)]
    return { bytes: files.bytes + uploads.bytes, files: files.files + uploads.files }
  }

  #assign(group: string, contexts: readonly string[]): void {
    for (const [id, name] of this.#groups) if (name === group) this.#groups.delete(id)
    for (const id of contexts) this.#groups.set(id, group)
  }

  #isGone({ kind, id }: QuotaOwner): boolean {
    return (kind === 'user' && !this.#users.has(id)) || (kind === 'context' && !this.#contexts.has(id))
  }

  /** Uploads into it that are in progress still count for their users and the store. */
  async #deleteContext({ context: id }: Of<'deleteContext'>): Promise<void> {
    if (!this.#contexts.delete(id)) return
    await this.#change(async tx => {
      await this.#ledger.releaseFilesOf(tx, id)
      await removeFilesOf(tx, id)
      await this.#ledger.close(tx, id)
      await tx.run(sql`DELETE FROM contexts WHERE id = ${id}`)
    })
    for (const [blob, file] of this.#files) if (file.context === id) this.#takeAway(blob)
    this.#groups.delete(id)
    this.#limits.delete(`context ${id}`)
  }

  /** The files of a deleted user count for their contexts alone. */
  async #deleteUser({ user }: Of<'deleteUser'>): Promise<void> {
    if (!this.#users.delete(user)) return
    await this.#change(async tx => {
      await tx.run(sql`DELETE FROM principals WHERE id = ${user}`)
      await forgetUserQuota(tx, user)
    })
    this.#limits.delete(`user ${user}`)
  }

  async #change(work: (tx: Queries) => Promise<void>): Promise<void> {
    await this.#database.transaction(work)
  }
}

const record = (blob: string, size: number) => ({ blob, size, sha256: 'x' })

function pick<T>(items: ReadonlyMap<string, T>, at: number): T | undefined {
  return [...items.values()][at % Math.max(1, items.size)]
}
