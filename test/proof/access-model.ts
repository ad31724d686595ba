import assert from 'node:assert/strict'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import { insertGroup, setMembers as setGroup } from '../../src/accounts/groups.ts'
import { findCaller } from '../../src/accounts/present-caller.ts'
import { insertUser } from '../../src/accounts/users.ts'
import { schema } from '../../src/assembly/stores.ts'
import { Forbidden, ServiceError } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import { Creation, localEntry } from '../../src/content/creation.ts'
import { Entries } from '../../src/content/entries.ts'
import { EntryLoader } from '../../src/content/entry-loader.ts'
import { describeInfo } from '../../src/content/info.ts'
import { createKinds } from '../../src/content/kinds/kinds.ts'
import { ListMoves } from '../../src/content/list-moves.ts'
import { Trash } from '../../src/features/trash/trash.ts'
import { CONTEXTS, resourceUri } from '../../src/model/addresses.ts'
import { type Acl, newEntry } from '../../src/model/entry.ts'
import { may, type Right } from '../../src/model/rights.ts'
import { parseQuery } from '../../src/features/search/query.ts'
import { Search } from '../../src/features/search/search.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { changesOf, insertEntry, updateEntry } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { AccessModel, type Grants, type Mode, modes, slots } from './access-rules.ts'
import { Random } from './random.ts'

/**
 * Random folders, moves, shares, revocations, groups and deletions by random callers: after each of them the service and a model with plain
 * variables must agree about who may do what, by address and by search. The model walks from folder to folder, and knows no scopes.
 */

const C = '1'
const users = ['u1', 'u2', 'u3']
/** Owns the context most of the time, and does most. */
const OWNER = 'u1'
const rights: readonly Right[] = ['administer', 'writemetadata', 'writeresource', 'readmetadata', 'readresource']
const principals = [...users, 'g1', '_users', '_guest']
const MAX_ENTRIES = 14

const iriOf = (id: string): string => `./_principals/resource/${id}`
const aclOf = (mode: Mode, grants: Grants, isMarked: boolean): Acl =>
  Object.fromEntries(
    slots.flatMap(slot => {
      const marks = mode === 'context' ? ['_context'] : mode === 'folder' ? ['_folder'] : []
      if (isMarked && mode !== 'folder' && slot === 'rread') marks.push('_folder')
      const named = [...(grants[slot] ?? []), ...marks].map(iriOf)
      return named.length > 0 ? [[slot, named]] : []
    }),
  )

async function open(file: string) {
  const database = await openSqliteDatabase(file)
  await migrate(database, schema)
  const system = new FakeSystem('access')
  const cache = new DependencyCache(database, 2 ** 20, realSystem)
  const loader = new EntryLoader({ database, cache })
  const changes = changesOf(database)
  // Nothing here has a file.
  const files = { remove: async () => {}, collectGarbage: async () => {}, reportThresholds: async () => {} }
  const all = { database, cache, loader, changes, system, files, ledger: {} }
  const kinds = createKinds(
    all as unknown as Parameters<typeof createKinds>[0],
    {} as unknown as Parameters<typeof createKinds>[1],
    { requireCurrentPassword: false },
  )
  const deps = { ...all, kinds, contexts: kinds.ofType.Context } as unknown as ConstructorParameters<
    typeof Creation
  >[0] &
    ConstructorParameters<typeof Entries>[0] &
    ConstructorParameters<typeof ListMoves>[0] &
    ConstructorParameters<typeof Trash>[0]
  return {
    database,
    loader,
    kinds,
    creation: new Creation(deps, { groupContextsForAll: false }),
    entries: new Entries(deps),
    moves: new ListMoves(deps),
    trash: new Trash(deps, { retention: 0 }),
    search: new Search(database, loader),
  }
}
type Parts = Awaited<ReturnType<typeof open>>

async function fill({ database }: Parts): Promise<void> {
  await database.transaction(async tx => {
    for (const table of [
      'list_members',
      'trashed_entries',
      'search_entries',
      'search_strings',
      'entries',
      'group_members',
    ])
      await tx.run({ parts: [`DELETE FROM ${table}`], values: [] })
    for (const table of ['retired_ids', 'principals', 'contexts'])
      await tx.run({ parts: [`DELETE FROM ${table}`], values: [] })
    for (const id of [CONTEXTS, C]) await tx.run(sql`INSERT INTO contexts (id) VALUES (${id})`)
    for (const id of users) await insertUser(tx, { id, name: id })
    await insertGroup(tx, { id: 'g1', name: 'g1' })
    await insertEntry(tx, newEntry({ context: CONTEXTS, id: CONTEXTS, graphType: 'Context', by: undefined, now: 1 }))
    await insertEntry(tx, newEntry({ context: CONTEXTS, id: C, graphType: 'Context', by: undefined, now: 1 }))
  })
}

interface Run {
  /** Number of random changes. */
  readonly operations: number
  readonly seed: number
  /** The database: with a file the caches take part. */
  readonly file: string
}

/** Resolves to the number of changes that were made or refused as the model says, and of decisions about rights that were compared. */
export async function proveAccess({
  operations,
  seed,
  file,
}: Run): Promise<{ changes: number; decisions: number; refused: number }> {
  const parts = await open(file)
  const random = new Random(seed)
  const done = { changes: 0, decisions: 0, refused: 0 }
  try {
    while (done.changes < operations) {
      await fill(parts)
      const world = new World(parts, random)
      for (let step = 0; step < 120 && done.changes < operations; step++) {
        const { what, isRefused } = await world.change()
        done.changes++
        if (isRefused) done.refused++
        try {
          done.decisions += await world.compare()
        } catch (error) {
          throw new Error(`seed ${seed}, change ${done.changes}: ${what}\n${world.history.join('\n')}`, {
            cause: error,
          })
        }
      }
    }
    return done
  } finally {
    await parts.database.close()
  }
}

/** The service and the model, which take each step together. */
class World {
  readonly history: string[] = []
  readonly #parts: Parts
  readonly #random: Random
  readonly #model = new AccessModel()

  constructor(parts: Parts, random: Random) {
    this.#parts = parts
    this.#random = random
  }

  /** Makes a random change, which the service must allow if and only if the model does. */
  async change(): Promise<{ readonly what: string; readonly isRefused: boolean }> {
    const by = this.#random.chance(60) ? OWNER : this.#random.pick(users)
    const { what, isAllowed, work, apply } = this.#draw(by)
    this.history.push(what)
    let isRefused = false
    let result: string | undefined
    try {
      result = await work(await this.#caller(by))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      isRefused = true
      assert.ok(!isAllowed || !(error instanceof Forbidden), `${what} was refused: ${error.message}`)
    }
    if (!isRefused) {
      assert.ok(isAllowed, `${what} was allowed`)
      apply(result ?? '')
    }
    return { what, isRefused }
  }

  #draw(by: string): Change {
    const random = this.#random
    const model = this.#model
    const ids = [...model.entries.keys()]
    const lists = ids.filter(id => model.entries.get(id)?.isList)
    const kind = random.below(100)
    if (kind < 6) return this.#setContext()
    if (kind < 10) return this.#setGroup()
    if (ids.length < 4 || (kind < 25 && ids.length < MAX_ENTRIES))
      return this.#create(by, random.chance(80) ? pickOr(random, lists) : undefined)
    if (kind < 55) return this.#share(by, random.pick(ids))
    if (kind < 75 && lists.length > 0) return this.#move(by, random.pick(ids), random.pick(lists))
    if (kind < 85 && lists.length > 0) return this.#put(by, random.pick(lists))
    if (kind < 92) return this.#toTrash(by, random.pick(ids))
    if (model.trashed.size > 0) return this.#restore(by, random.pick([...model.trashed.keys()]))
    return this.#delete(by, random.pick(ids))
  }

  #grants(): Grants {
    const random = this.#random
    const grants: Record<string, string[]> = {}
    for (let count = random.below(4); count > 0; count--) {
      const slot = random.pick(slots)
      const who = random.pick(principals)
      grants[slot] = [...new Set([...(grants[slot] ?? []), who])]
    }
    return grants
  }

  #create(by: string, list: string | undefined): Change {
    const isList = this.#random.chance(45)
    return {
      what: `${by} creates ${isList ? 'a list' : 'a text'} in ${list ?? 'no list'}`,
      isAllowed: this.#model.mayCreate(by, list),
      work: async caller => {
        const request = localEntry(isList ? 'List' : 'String', () => ({}))
        const listUri = list === undefined ? undefined : resourceUri({ context: C, id: list })
        return (await this.#parts.creation.create(caller, C, { ...request, listUri })).id
      },
      apply: id => this.#model.create(by, { id, isList, list }),
    }
  }

  #setContext(): Change {
    const { admin = [], ...others } = this.#grants()
    const grants: Grants = { ...others, admin: this.#random.chance(80) ? [...new Set([...admin, OWNER])] : admin }
    return {
      what: `the context gives ${JSON.stringify(grants)}`,
      isAllowed: true,
      work: async () => {
        const acl = aclOf('closed', grants, false)
        const { database } = this.#parts
        const now = Date.now()
        await database.transaction(
          tx => updateEntry(tx, newEntry({ context: CONTEXTS, id: C, graphType: 'Context', by: undefined, now, acl })),
          { durability: 'relaxed' },
        )
        return undefined
      },
      apply: () => {
        this.#model.context = grants
      },
    }
  }

  #setGroup(): Change {
    const members = users.filter(() => this.#random.chance(50))
    return {
      what: `the group has ${members.join(', ')}`,
      isAllowed: true,
      work: async () => {
        await this.#parts.database.transaction(tx => setGroup(tx, 'g1', members), { durability: 'relaxed' })
        return undefined
      },
      apply: () => {
        this.#model.group = new Set(members)
      },
    }
  }

  #share(by: string, id: string): Change {
    const random = this.#random
    const entry = this.#model.entry(id)
    const mode = random.pick(modes)
    const grants = mode === 'none' ? {} : this.#grants()
    const isMarked = entry.isList && mode !== 'none' && random.chance(60)
    const acl = aclOf(mode, grants, isMarked)
    const isEmpty = Object.keys(acl).length === 0
    return {
      what: `${by} gives ${id} ${mode} ${JSON.stringify(grants)}${isMarked ? ' for its content' : ''}`,
      isAllowed: this.#model.may(by, 'administer', id),
      work: async caller => {
        const read = async (present: Parameters<typeof describeInfo>[0]) => describeInfo({ ...present, acl })
        await this.#parts.entries.putInfo(caller, { context: C, entry: id }, read, () => {})
        return undefined
      },
      apply: () =>
        this.#model.share(id, {
          mode: isEmpty ? 'none' : mode,
          grants,
          isMarked: entry.isList && (isMarked || mode === 'folder'),
        }),
    }
  }

  #move(by: string, id: string, list: string): Change {
    const model = this.#model
    return {
      what: `${by} moves ${id} to ${list}`,
      isAllowed: model.mayMove(by, id, list),
      work: async caller => {
        const move = { entry: { context: C, id }, from: undefined, fromAny: true }
        await this.#parts.moves.move(caller, { context: C, entry: list }, async () => move)
        return undefined
      },
      apply: () => model.move(by, id, list),
    }
  }

  #put(by: string, list: string): Change {
    const model = this.#model
    const random = this.#random
    const kept = model.membersOf(list).filter(() => random.chance(70))
    const loose = [...model.entries.values()].filter(({ parent, id }) => parent === undefined && id !== list)
    const added = loose.filter(() => random.chance(30)).map(({ id }) => id)
    const members = [...added, ...kept]
    return {
      what: `${by} puts ${members.join(' ')} into ${list}`,
      isAllowed: model.mayPut(by, list, members),
      work: async caller => {
        const target = await this.#parts.loader.get({ context: C, entry: list })
        const body = { json: async () => members } as never
        await this.#parts.kinds.ofType.List.write(caller, target, body, { entry: () => {} } as never)
        return undefined
      },
      apply: () => model.put(by, list, members),
    }
  }

  #toTrash(by: string, id: string): Change {
    return {
      what: `${by} moves ${id} to the trash`,
      isAllowed: this.#model.withContent(id).every(one => this.#model.may(by, 'administer', one)),
      work: async caller => {
        await this.#parts.trash.put(caller, { context: C, entry: id }, () => {})
        return undefined
      },
      apply: () => this.#model.toTrash(id),
    }
  }

  #restore(by: string, id: string): Change {
    return {
      what: `${by} restores ${id}`,
      isAllowed: this.#model.mayRestore(by, id),
      work: async caller => {
        await this.#parts.trash.restore(caller, C, id)
        return undefined
      },
      apply: () => this.#model.restore(by, id),
    }
  }

  #delete(by: string, id: string): Change {
    return {
      what: `${by} deletes ${id}`,
      isAllowed: this.#model.may(by, 'administer', id),
      work: async caller => {
        await this.#parts.entries.delete(caller, { context: C, entry: id }, () => {})
        return undefined
      },
      apply: () => this.#model.delete(id),
    }
  }

  async #caller(id: string): Promise<Caller> {
    const found =
      id === '_guest' ? guestFrom({ address: '', userAgent: '' }) : await findCaller(this.#parts.database, id)
    assert.ok(found)
    return found
  }

  /** One caller asks for every entry, by its address and by a search. Resolves to the number of decisions that were compared. */
  async compare(): Promise<number> {
    const who = this.#random.pick([...users, '_guest'])
    const caller = await this.#caller(who)
    const { loader, search } = this.#parts
    const readable: string[] = []
    for (const id of this.#model.entries.keys()) {
      const target = await loader.target({ context: C, id })
      assert.ok(target, `${id} is there`)
      for (const right of rights) {
        assert.equal(
          may(caller, right, target),
          this.#model.may(who, right, id),
          `${who} may ${right} on ${JSON.stringify(target.entry)}; the model has ${this.#model.describe(id)}`,
        )
      }
      if (this.#model.may(who, 'readmetadata', id)) readable.push(id)
    }
    const { hits, total } = await search.find(caller, {
      query: parseQuery('*:*'),
      filters: [parseQuery(`context:.\\/${C}`)],
      limit: 100,
      offset: 0,
      order: [],
      facets: { fields: [], minCount: 1, limit: 1, missing: false, matches: undefined },
      toRelative: iri => iri,
      toAbsolute: iri => iri,
      now: 0,
    })
    assert.deepEqual(hits.map(({ entry }) => entry.id).sort(), [...readable].sort(), `${who} finds`)
    assert.equal(total, readable.length, 'the index alone decides the same')
    return this.#model.entries.size * rights.length
  }
}

interface Change {
  readonly what: string
  readonly isAllowed: boolean
  /** Resolves to the id of a new entry. */
  readonly work: (caller: Caller) => Promise<string | undefined>
  readonly apply: (id: string) => void
}

const pickOr = (random: Random, ids: readonly string[]): string | undefined =>
  ids.length === 0 ? undefined : random.pick(ids)
