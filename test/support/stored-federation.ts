import assert from 'node:assert/strict'
import type { IdpMetadata } from '../../src/features/saml/metadata.ts'
import type { FederationEntity } from '../../src/features/saml/federation-entity.ts'
import { type ListedEntity, listedEntity } from '../../src/features/saml/federation-directory.ts'
import type {
  EntityRow,
  FederationHead,
  FederationStore,
  StoredEntity,
} from '../../src/features/saml/federation-store.ts'
import type { FederationOutcome, FederationTask } from '../../src/features/saml/federation-worker.ts'
import { turns } from './waiting.ts'

/** An entity as the reader makes it of published metadata. */
export const entityNamed = (
  entityId: string,
  { idp, ...more }: Partial<Omit<FederationEntity, 'idp'>> & { readonly idp?: Partial<IdpMetadata> } = {},
): FederationEntity => ({
  entityId,
  idp: {
    entityId,
    redirectUrl: `${entityId}/sso`,
    postUrl: undefined,
    keys: ['key'],
    certificates: [],
    ...idp,
  } as IdpMetadata,
  names: { en: `Name of ${entityId}` },
  keywords: '',
  scopes: [],
  scopePatterns: [],
  categories: [],
  ...more,
})

/** As it returns from JSON. */
export const asStored = (entity: FederationEntity): FederationEntity =>
  JSON.parse(JSON.stringify(entity)) as FederationEntity

export const rowOf = (entity: FederationEntity): EntityRow => {
  const [listed, whole] = [JSON.stringify(listedEntity(entity)), JSON.stringify(entity)]
  return [entity.entityId, `digest of ${whole}`, listed, whole]
}

/** The rows of these entities, as the reader hands them over. */
export const packOf = (...entities: readonly FederationEntity[]): Uint8Array =>
  new Uint8Array(Buffer.from(JSON.stringify(entities.map(rowOf))))

type Summary = Extract<FederationOutcome, { readonly summary: unknown }>['summary']

/** What the reader returns for a document with one pack for each of these lists. */
export const documentOf = (
  packs: ReadonlyArray<readonly FederationEntity[]>,
  { duplicates = [], ...summary }: Partial<Summary> & { readonly duplicates?: readonly string[] } = {},
): FederationOutcome => ({
  summary: {
    bytes: 1234,
    validUntil: Date.UTC(2027, 0, 1),
    cacheDuration: undefined,
    unusable: 0,
    reasons: [],
    ...summary,
  },
  packs: packs.map(entities => packOf(...entities)),
  duplicates,
  providers: packs.flat().length,
})

/** Answers in the place of the thread that fetches and reads metadata. */
export class FakeReader {
  readonly tasks: FederationTask[] = []
  isClosed = false
  /** What the next tasks come to. */
  answer: (task: FederationTask) => FederationOutcome | Promise<FederationOutcome>

  constructor(answer: FakeReader['answer']) {
    this.answer = answer
  }

  async read(task: FederationTask): Promise<FederationOutcome> {
    this.tasks.push(task)
    return await this.answer(task)
  }

  /** @returns what answers the next task */
  hold(): (outcome: FederationOutcome) => Promise<void> {
    let answer: ((outcome: FederationOutcome) => void) | undefined
    this.answer = () => new Promise(resolve => (answer = resolve))
    return async outcome => {
      await turns(3)
      assert.ok(answer, 'nothing was asked for')
      answer(outcome)
      await turns(3)
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

/** Keeps the entities of federations in memory. */
export class FakeFederationStore {
  readonly entities = new Map<string, StoredEntity & { readonly listed: string }>()
  readonly copies = new Map<
    string,
    { readonly source: string; readonly metadata: FederationHead; readonly loadedAt: number }
  >()
  /** Thrown by the next call that looks for a copy. */
  failure: Error | undefined

  readonly heads = {
    find: async (provider: string, source: string) => {
      const { failure } = this
      this.failure = undefined
      if (failure) throw failure
      const copy = this.copies.get(provider)
      return copy?.source === source ? { metadata: copy.metadata, loadedAt: copy.loadedAt } : undefined
    },
    store: async (
      provider: string,
      source: string,
      copy: { readonly metadata: FederationHead; readonly loadedAt: number },
    ) => void this.copies.set(provider, { source, ...copy }),
  }

  async find(provider: string, entityId: string): Promise<StoredEntity | undefined> {
    const found = this.entities.get(`${provider} ${entityId}`)
    return found && { entity: found.entity, freshUntil: found.freshUntil }
  }

  async *list(provider: string): AsyncGenerator<ListedEntity> {
    for (const [key, { listed }] of this.entities)
      if (key.startsWith(`${provider} `)) yield JSON.parse(listed) as ListedEntity
  }

  async put(provider: string, [id, , listed, entity]: EntityRow, freshUntil: number | undefined): Promise<void> {
    this.entities.set(`${provider} ${id}`, { entity: JSON.parse(entity) as FederationEntity, listed, freshUntil })
  }

  async remove(provider: string, entityId: string): Promise<void> {
    this.entities.delete(`${provider} ${entityId}`)
  }

  async replace(provider: string, packs: Iterable<readonly EntityRow[]>, dropped: ReadonlySet<string>) {
    await this.clear(provider)
    const rows = [...packs].flat().filter(([id]) => !dropped.has(id))
    for (const row of rows) await this.put(provider, row, undefined)
    return { count: rows.length, changed: rows.length, removed: 0 }
  }

  async clear(provider: string): Promise<void> {
    for (const key of this.entities.keys()) if (key.startsWith(`${provider} `)) this.entities.delete(key)
  }

  get asStore(): FederationStore {
    return this as unknown as FederationStore
  }
}

/** The refusal of an entity that the federation `fed` does not have. */
export const unknownEntity = (received: string) => ({
  code: 'sso-refused',
  failed: { check: 'unknown-entity', expected: 'an identity provider of fed', received },
})
