import { setImmediate } from 'node:timers/promises'
import type { Milliseconds } from '../../base/units.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { sql } from '../../stores/sql.ts'
import { MetadataCopies } from '../sso/metadata-source.ts'
import type { ListedEntity } from './federation-directory.ts'
import type { FederationEntity } from './federation-entity.ts'

/** Data about the whole document, or about the service that answers queries for single entities. */
export interface FederationHead {
  /** Wall clock; `undefined` where each entity has its own. */
  readonly validUntil: Milliseconds | undefined
  readonly cacheDuration: Milliseconds | undefined
  readonly unusable: number
  readonly reasons: readonly string[]
}

/** An entity in the form in which it is stored; the worker thread makes it. */
export type EntityRow = readonly [entityId: string, digest: string, listed: string, entity: string]

const AT_ONCE = 200

/**
 * The identity providers of federations, a row for each. To check a response, every thread and node reads only the row of its provider, and
 * a refresh writes only rows that have changed.
 */
export class FederationStore {
  readonly heads: MetadataCopies<FederationHead>
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.heads = new MetadataCopies(database)
  }

  async find(provider: string, entityId: string): Promise<StoredEntity | undefined> {
    const row = await this.#database.get<{ entity: string; fresh: number | null }>(
      sql`SELECT entity, fresh FROM sso_entities WHERE provider = ${provider} AND entity_id = ${entityId}`,
    )
    return row && { entity: JSON.parse(row.entity) as FederationEntity, freshUntil: row.fresh ?? undefined }
  }

  /** In parts, so that thousands of rows do not hold up other requests. */
  async *list(provider: string): AsyncGenerator<ListedEntity> {
    for (let after = ''; ; ) {
      const rows = await this.#database.all<{ entity_id: string; listed: string }>(
        sql`SELECT entity_id, listed FROM sso_entities WHERE provider = ${provider} AND entity_id > ${after}
          ORDER BY entity_id LIMIT ${AT_ONCE}`,
      )
      for (const { listed } of rows) yield JSON.parse(listed) as ListedEntity
      if (rows.length < AT_ONCE) return
      await setImmediate()
      after = rows.at(-1)?.entity_id ?? ''
    }
  }

  /** Stores one entity. @param freshUntil no query for the entity is needed until this time */
  async put(provider: string, row: EntityRow, freshUntil: Milliseconds | undefined): Promise<void> {
    await putRow(this.#database, provider, row, freshUntil)
  }

  async remove(provider: string, entityId: string): Promise<void> {
    await this.#database.run(sql`DELETE FROM sso_entities WHERE provider = ${provider} AND entity_id = ${entityId}`)
  }

  /**
   * Replaces the stored entities by those in the packs, except `dropped`. Uses small transactions, because a document with thousands of
   * entities must not block other writers. After an interruption the store has entities of the old and the new document, which are all
   * signed.
   */
  async replace(
    provider: string,
    packs: Iterable<readonly EntityRow[]>,
    dropped: ReadonlySet<string>,
  ): Promise<ReplacedEntities> {
    const known = await this.#database.all<{ entity_id: string; digest: string }>(
      sql`SELECT entity_id, digest FROM sso_entities WHERE provider = ${provider}`,
    )
    const gone = new Map(known.map(({ entity_id: id, digest }) => [id, digest]))
    let count = 0
    let changed = 0
    for (const pack of packs) {
      await setImmediate()
      const kept = pack.filter(([id]) => !dropped.has(id))
      const changes = kept.filter(([id, digest]) => gone.get(id) !== digest)
      for (const [id] of kept) gone.delete(id)
      count += kept.length
      changed += changes.length
      if (changes.length === 0) continue
      await this.#database.transaction(async tx => {
        for (const row of changes) await putRow(tx, provider, row, undefined)
      })
    }
    for (const id of gone.keys()) await this.remove(provider, id)
    return { count, changed, removed: gone.size }
  }

  async clear(provider: string): Promise<void> {
    await this.#database.run(sql`DELETE FROM sso_entities WHERE provider = ${provider}`)
  }
}

export interface StoredEntity {
  readonly entity: FederationEntity
  /** Wall clock. */
  readonly freshUntil: Milliseconds | undefined
}

interface ReplacedEntities {
  readonly count: number
  readonly changed: number
  readonly removed: number
}

async function putRow(
  queries: Queries,
  provider: string,
  [id, digest, listed, entity]: EntityRow,
  freshUntil: Milliseconds | undefined,
): Promise<void> {
  await queries.run(sql`INSERT INTO sso_entities (provider, entity_id, digest, listed, entity, fresh)
    VALUES (${provider}, ${id}, ${digest}, ${listed}, ${entity}, ${freshUntil ?? null})
    ON CONFLICT (provider, entity_id) DO UPDATE
    SET digest = excluded.digest, listed = excluded.listed, entity = excluded.entity, fresh = excluded.fresh`)
}
