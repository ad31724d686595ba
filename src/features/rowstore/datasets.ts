import { type Caller, rateLimitKey } from '../../accounts/caller.ts'
import { presentCaller } from '../../accounts/present-caller.ts'
import { InvalidInput, NotFound } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Changes } from '../../content/changes.ts'
import { findAddress, nextId } from '../../content/contexts.ts'
import { placeFor } from '../../content/creation-place.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { findPipelineResult } from '../../content/entry-records.ts'
import type { Read } from '../../content/values.ts'
import type { Files } from '../../files/files.ts'
import { type Graph, objectsOf, parseGraph, uri } from '../../graph/graph.ts'
import { store } from '../../graph/vocabulary.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import { type EntryAddress, type EntryKey, entryUri } from '../../model/addresses.ts'
import { type Entry, holdsContent, holdsFile, newEntry, resourceOf } from '../../model/entry.ts'
import { type EntryInContext, requireRight, requires } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { readStep, type Step } from './pipeline.ts'
import type { Opened, RowStore } from './rowstore.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly changes: Changes
  readonly files: Files
  readonly log: Log
  /** Known when the service has begun to listen. */
  readonly address: { readonly base: BaseAddress }
  readonly rowStore: RowStore
}

/** Entry URIs as the client writes them. */
interface Wanted {
  readonly pipeline: string
  readonly source?: string | undefined
}

interface Source {
  readonly entry: Entry
  readonly open: () => Promise<Opened>
}

interface Creation {
  readonly action: 'create'
  readonly context: string
  readonly pipeline: Entry
  readonly source: Source
}

interface Filling {
  readonly action: 'replace' | 'append'
  readonly dataset: string
  readonly source: Source
  readonly result: EntryInContext
}

/** What a pipeline does, with the entries that it needs. */
type Plan = Creation | Filling | (Extract<Step, { action: 'setalias' }> & { readonly result: EntryInContext })

const changing = requires('writeresource', 'change the dataset of this entry')
const dataOf = store.term('pipelineData')

/** Runs pipelines that make datasets of CSV files at a RowStore, and deletes datasets. Each is the resource of a Reference (D18.32). */
export class Datasets {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * @returns the entry that describes the dataset
   * @throws {NotSupported} without a RowStore, and for other pipelines @throws {InvalidInput} @throws {Unauthenticated | Forbidden}
   * @throws {UpstreamFailed} @throws {UpstreamSilent} @throws {Overloaded}
   */
  async run(caller: Caller, contextKey: string, read: Read<Wanted>, signal: AbortSignal): Promise<EntryAddress> {
    const { database, rowStore } = this.#deps
    rowStore.requireUrl()
    const context = await this.#contextFor(caller, contextKey)
    const wanted = await read()
    await this.#plan(caller, context, wanted)
    return await rowStore.inTurn({ of: rateLimitKey(caller) }, async () => {
      const present = await presentCaller(database, caller)
      await this.#contextFor(present, context)
      return await this.#carryOut(present, await this.#plan(present, context, wanted), signal)
    })
  }

  async #contextFor(caller: Caller, contextKey: string): Promise<string> {
    const whole = await this.#deps.loader.getContextEntry(contextKey)
    requireRight(caller, 'writeresource', whole, 'run pipelines in this context')
    return whole.entry.id
  }

  /** What a pipeline does, all of which the caller may do. */
  async #plan(caller: Caller, context: string, wanted: Wanted): Promise<Plan> {
    const pipeline = await this.#named(caller, context, wanted.pipeline, 'pipeline')
    if (pipeline.graphType !== 'Pipeline' || !holdsContent(pipeline))
      throw new InvalidInput('invalid-type', '`pipeline` must be the address of an entry of graph type Pipeline.')
    const step = readStep(parseGraph(pipeline.content ?? '{}'))
    if (step.action === 'setalias') return { ...step, result: await this.#result(caller, context, step.dataset) }
    const source = await this.#source(caller, context, wanted.source)
    if (step.action === 'create') return { ...step, context, pipeline, source }
    const { action, dataset } = step
    return { action, dataset, source, result: await this.#result(caller, context, dataset) }
  }

  async #carryOut(caller: Caller, plan: Plan, signal: AbortSignal): Promise<EntryAddress> {
    const { changes, rowStore } = this.#deps
    if (plan.action === 'setalias') {
      await rowStore.setAlias(plan.dataset, plan.alias, signal)
      return plan.result.entry
    }
    const { source } = plan
    if (plan.action === 'create') {
      const dataset = await rowStore.create(source.open, signal)
      return await this.#describe(caller, plan.context, { dataset, pipeline: plan.pipeline, source: source.entry })
    }
    const { action, dataset, result } = plan
    await rowStore.fill(dataset, action, source.open, signal)
    return await changes.change(caller, result, { check: changing }, entry =>
      withData(entry, entryUri(source.entry), action),
    )
  }

  /** Deletes the dataset that an entry describes; the entry stays. @throws like {@link run} */
  async delete(caller: Caller, key: EntryKey, signal: AbortSignal): Promise<void> {
    const { database, rowStore } = this.#deps
    await this.#datasetOf(caller, key)
    await rowStore.inTurn({ of: rateLimitKey(caller) }, async () => {
      const dataset = await this.#datasetOf(await presentCaller(database, caller), key)
      await rowStore.delete(dataset, signal)
    })
  }

  /** The dataset that an entry describes, which the caller may delete. */
  async #datasetOf(caller: Caller, key: EntryKey): Promise<string> {
    const { loader, rowStore, address } = this.#deps
    const target = await loader.get(key)
    changing(caller, target)
    rowStore.requireUrl()
    const { entryType, graphType } = target.entry
    if (entryType === 'Local' || graphType !== 'PipelineResult')
      throw new InvalidInput(
        'invalid-type',
        'This entry describes no dataset of a RowStore: delete its resource without `proxy`.',
      )
    const dataset = address.base.toAbsolute(resourceOf(target.entry))
    rowStore.requireDataset(dataset)
    return dataset
  }

  /** An entry of this context whose resource the caller may read. */
  async #named(caller: Caller, context: string, text: string, parameter: string): Promise<Entry> {
    const { database, loader, address } = this.#deps
    const found = await findAddress(database, address.base.toRelative(text))
    if (found?.context !== context) {
      throw new InvalidInput(
        'invalid-uri',
        `\`${parameter}\` must be the address of an entry in context ${context}, but is "${text.slice(0, 200)}".`,
      )
    }
    const target = await loader.get({ context, entry: found.id })
    requireRight(caller, 'readresource', target, `read the resource of \`${parameter}\``)
    return target.entry
  }

  async #source(caller: Caller, context: string, text: string | undefined): Promise<Source> {
    if (text === undefined) throw new InvalidInput('invalid-value', 'This pipeline needs a file: `source` is missing.')
    const entry = await this.#named(caller, context, text, 'source')
    if (!holdsFile(entry))
      throw new InvalidInput('invalid-type', '`source` must be the address of an entry with a file.')
    const open = async () => {
      const { file, bytes } = (await this.#deps.files.read(entry, () => 'all')) ?? {}
      if (!file || !bytes) throw new NotFound('no-file', 'The entry that `source` names has no file.')
      return { bytes, size: file.size }
    }
    return { entry, open }
  }

  /** The entry in this context that describes the dataset, and that the caller may write. */
  async #result(caller: Caller, context: string, dataset: string): Promise<EntryInContext> {
    const { database, loader, rowStore, address } = this.#deps
    rowStore.requireDataset(dataset)
    const found = await findPipelineResult(database, context, address.base.toRelative(dataset))
    if (!found)
      throw new InvalidInput('invalid-value', `No entry in context ${context} describes the dataset ${dataset}.`)
    const target = await loader.get({ context, entry: found.id })
    changing(caller, target)
    return target
  }

  /** Creates the entry of a new dataset. Without one nobody could find the dataset, so it is deleted when that fails. */
  async #describe(
    caller: Caller,
    context: string,
    { dataset, pipeline, source }: { readonly dataset: string; readonly pipeline: Entry; readonly source: Entry },
  ): Promise<EntryAddress> {
    const { changes, rowStore, log } = this.#deps
    const { base } = this.#deps.address
    try {
      return await changes.run(caller, async writer => {
        await placeFor(writer.tx, writer.caller, context, undefined)
        const address = { context, id: await nextId(writer.tx, context) }
        const about = { [store.term('pipeline')]: [uri(entryUri(pipeline))], [dataOf]: [uri(entryUri(source))] }
        await writer.insert(
          newEntry({
            ...address,
            entryType: 'Reference',
            graphType: 'PipelineResult',
            by: writer.caller.user.id,
            now: writer.now,
            externalResource: base.toRelative(dataset),
            externalMetadata: base.toRelative(`${dataset}/info`),
            statements: { [entryUri(address)]: about },
          }),
        )
        return address
      })
    } catch (error) {
      await rowStore
        .delete(dataset, new AbortController().signal)
        .catch((err: unknown) => log.warn({ err, dataset }, 'a dataset at the RowStore has no entry'))
      throw error
    }
  }
}

/** The entry with the file that its dataset has been filled from. */
function withData(entry: Entry, source: string, how: 'replace' | 'append'): Entry {
  const { statements } = entry
  const e = entryUri(entry)
  const before = how === 'append' ? objectsOf(statements, e, dataOf).filter(({ value }) => value !== source) : []
  const about: Graph[string] = { ...statements[e], [dataOf]: [...before, uri(source)] }
  return { ...entry, statements: { ...statements, [e]: about } }
}
