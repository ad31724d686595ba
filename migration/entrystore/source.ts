import { readNativeStore } from './formats/native-store.ts'
import { type QuadSink, Unusable } from './formats/quads.ts'
import { readQuads } from './formats/read-quads.ts'
import { isRefused, OldFolder } from './old-folder.ts'
import type { System } from '../../src/base/system.ts'
import type { Progress } from '../../src/base/progress.ts'
import type { OldStore, QuadTable } from './quad-table.ts'
import type { Report } from './report.ts'

/** One of the two old stores, ready to be read. */
export interface QuadSource {
  /** The file or folder, for the report. */
  readonly name: string
  /** The size of the input, for the progress; the compressed size of a compressed file. */
  readonly bytes: number
  /**
   * @param onBytes receives the number of bytes read
   * @returns the format @throws {Unusable}
   */
  read(sink: QuadSink, onBytes: (count: number) => void): Promise<string>
}

export interface Input {
  readonly kind: 'backup' | 'live folder'
  readonly folder: OldFolder
  readonly main: QuadSource
  readonly provenance: QuadSource | undefined
  /** The folder with files as `context/entry`; `undefined` when its place is unknown. */
  readonly files: OldFolder | undefined
  /** Other backups, which were not used. */
  readonly others: readonly string[]
  /** The date of the backup according to itself. */
  readonly date: string | undefined
  /** True when EntryStore itself marked the backup as failed. */
  readonly hasFailed: boolean
}

export interface InputOptions {
  readonly files?: string | undefined
  readonly provenance?: string | undefined
  /** Reads a backup although EntryStore marked it as failed. */
  readonly acceptFailed: boolean
}

const REPOSITORY = /^repository\.?(xml|trig|nq|brf|rdf|trix|binary)?(\.gz)?$/
const PROVENANCE = /^repository_prov\.?(xml|trig|nq|brf|rdf|trix|binary)?(\.gz)?$/
const BACKUP = /^(\d{14}|all)$/

/**
 * Detects what the folder is: a backup, a folder of backups, or the live folder of a stopped server. @throws
 * {Unusable}
 */
export async function openInput(path: string, options: InputOptions): Promise<Input> {
  const folder = new OldFolder(path)
  const backup = await findBackup(folder)
  const input = backup ? await openBackup(backup.folder, backup.others, options) : await openLive(folder, options)
  if (!input) throw new Unusable('no-backup', `${path} holds neither a backup nor a native or memory store`)
  return input
}

async function findBackup(folder: OldFolder): Promise<{ folder: OldFolder; others: string[] } | undefined> {
  if (await isBackup(folder)) return { folder, others: [] }
  const candidates: Array<{ readonly name: string; readonly date: string }> = []
  for (const name of await folder.names()) {
    const backup = folder.at(name)
    if (BACKUP.test(name) && (await isBackup(backup))) candidates.push({ name, date: (await dateOf(backup)) ?? name })
  }
  // `all` is the folder of the scheme that keeps a single backup; without a date, it sorts after the other names, which are dates.
  const [taken] = candidates.toSorted((a, b) => (a.date === b.date ? 0 : a.date > b.date ? -1 : 1))
  if (!taken) return undefined
  const others = candidates.filter(candidate => candidate !== taken).map(({ name }) => name)
  return { folder: folder.at(taken.name), others }
}

/** The date of a backup according to itself. */
async function dateOf(backup: OldFolder): Promise<string | undefined> {
  const date = (await backup.text('BACKUP_DATE'))?.trim()
  return date !== undefined && /^\d{14}$/.test(date) ? date : undefined
}

async function isBackup(folder: OldFolder): Promise<boolean> {
  const names = await folder.names()
  return names.some(name => REPOSITORY.test(name) || name === 'BACKUP_DATE' || name === 'BACKUP_FAILED')
}

async function openBackup(folder: OldFolder, others: readonly string[], options: InputOptions): Promise<Input> {
  const names = await folder.names()
  const hasFailed = names.includes('BACKUP_FAILED')
  if (hasFailed && !options.acceptFailed) {
    const reason = ((await folder.text('BACKUP_FAILED')) ?? '').replaceAll(/\s+/g, ' ').slice(0, 300)
    throw new Unusable('backup-failed', `${folder.path} is marked as failed: ${reason}`)
  }
  const main = names.find(name => REPOSITORY.test(name))
  if (main === undefined) throw new Unusable('no-repository-file', `${folder.path} holds no file repository.*`)
  const provenance = names.find(name => PROVENANCE.test(name))
  return {
    kind: 'backup',
    folder,
    others,
    hasFailed,
    date: (await folder.text('BACKUP_DATE'))?.trim(),
    main: await fileSource(folder, main),
    provenance:
      options.provenance === undefined
        ? provenance === undefined
          ? undefined
          : await fileSource(folder, provenance)
        : await requireSource(options.provenance),
    files: options.files === undefined ? folder : new OldFolder(options.files),
  }
}

async function fileSource(folder: OldFolder, name: string): Promise<QuadSource> {
  const bytes = (await folder.sizeOf(name)) ?? 0
  return {
    name: folder.at(name).path,
    bytes,
    read: (sink, onBytes) => readQuads(counted(folder.stream(name), onBytes), sink),
  }
}

async function* counted(chunks: AsyncIterable<unknown>, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    const bytes = chunk as Uint8Array
    onBytes(bytes.length)
    yield bytes
  }
}

/** The folder of a store itself, or one that contains the folders of the stores and of the files. */
async function openLive(folder: OldFolder, options: InputOptions): Promise<Input | undefined> {
  const own = await storeSource(folder)
  const places = [folder, ...(await folder.names()).map(name => folder.at(name))]
  const stores: Array<{ readonly place: OldFolder; readonly source: QuadSource }> = []
  const isProvenance = ({ place }: { readonly place: OldFolder }): boolean => /prov[^/\\]*$/i.test(place.path)
  const unreadable: string[] = []
  for (const place of own ? [folder] : places.slice(1)) {
    try {
      const source = place === folder ? own : await storeSource(place)
      if (source) stores.push({ place, source })
    } catch (error) {
      // Another folder beside the stores may belong to somebody else, as lost+found does.
      if (!isRefused(error) || isProvenance({ place })) throw error
      unreadable.push(place.path)
    }
  }
  const mains = stores.filter(store => !isProvenance(store))
  const [main] = mains
  if (!main && unreadable.length > 0)
    throw new Unusable('no-backup', `this user may not read ${unreadable.join(', ')}, and nothing else is a store`)
  if (!main) return undefined
  if (mains.length > 1) {
    throw new Unusable(
      'no-backup',
      `${folder.path} holds several stores: ${mains.map(({ place }) => place.path).join(', ')}`,
    )
  }
  const data = own ? undefined : (await folder.names()).find(name => name === 'data')
  const files = options.files ?? (data === undefined ? undefined : folder.at(data).path)
  return {
    kind: 'live folder',
    folder,
    others: [],
    hasFailed: false,
    date: undefined,
    main: main.source,
    provenance:
      options.provenance === undefined ? stores.find(isProvenance)?.source : await requireSource(options.provenance),
    files: files === undefined ? undefined : new OldFolder(files),
  }
}

/** @throws {Unusable} */
async function requireSource(path: string): Promise<QuadSource> {
  const folder = new OldFolder(path)
  const store = await storeSource(folder)
  if (store) return store
  const names = await folder.names()
  const name = names.find(name => PROVENANCE.test(name)) ?? names.find(name => REPOSITORY.test(name))
  if (name === undefined) throw new Unusable('no-backup', `${path} holds no store`)
  return await fileSource(folder, name)
}

/** A native or memory store in this folder. @throws {Unusable} `running`, `broken-upgrade` */
async function storeSource(folder: OldFolder): Promise<QuadSource | undefined> {
  const names = await folder.names()
  const isMemory = names.includes('memorystore.data')
  const triples = names.find(name => /^triples-[spoc]+\.dat$/.test(name))
  if (!isMemory && (triples === undefined || !names.includes('values.dat'))) return undefined
  if (names.includes('lock')) throw new Unusable('running', `${folder.path} is in use: it holds a lock`)
  if (isMemory) return await fileSource(folder, 'memorystore.data')
  const status = (await folder.text('txn-status'))?.trim() ?? ''
  if (status !== '' && status !== 'NONE') throw new Unusable('running', `${folder.path} has an unfinished transaction`)
  if ((await folder.at('backup').names()).length > 0) {
    throw new Unusable('broken-upgrade', `${folder.path} holds the remains of an unfinished upgrade`)
  }
  return await nativeSource(folder, triples ?? '')
}

async function nativeSource(folder: OldFolder, triples: string): Promise<QuadSource> {
  const bytes = (await folder.sizeOf(triples)) ?? 0
  return {
    name: folder.path,
    bytes,
    async read(sink, onBytes) {
      const files = [folder.random('values.id'), folder.random('values.dat'), folder.random(triples)] as const
      const [ids, values, index] = files
      try {
        const turn = async (): Promise<void> => await new Promise(resolve => setImmediate(resolve))
        await readNativeStore({ ids, values, triples: index }, sink, turn)
        onBytes(bytes)
      } finally {
        for (const file of files) file.close()
      }
      return 'native store'
    },
  }
}

interface Loading {
  readonly quads: QuadTable
  readonly report: Report
  readonly progress: Progress
  readonly system: System
  /** Reads a truncated file as far as it goes. */
  readonly acceptTruncated: boolean
}

/** The formats whose end shows that nothing is missing. */
const selfProving = /^(TriX|BinaryRDF|memory store|native store)/

/**
 * Reads both stores into the table. @returns whether the format proves that the main store is complete
 * @throws {Unusable}
 */
export async function loadQuads(
  { main, provenance }: Input,
  loading: Loading,
): Promise<{ readonly isProved: boolean }> {
  const format = await loadStore('main', main, loading)
  if (provenance) await loadStore('provenance', provenance, loading)
  loading.quads.flush()
  const { report, quads } = loading
  report.count('graphs', quads.graphs.main)
  if (provenance) report.count('graphs of the provenance store', quads.graphs.provenance)
  return { isProved: format !== undefined && selfProving.test(format) }
}

/** Adds what a reader finds to the table. @param name of the file, for the report */
export const sinkOf = (
  store: OldStore,
  name: string,
  { quads, report }: Pick<Loading, 'quads' | 'report'>,
): QuadSink => ({
  quad(subject, predicate, object, graph) {
    report.add('read')
    // A name that no engine can store is not the name of a graph of EntryStore.
    if (graph === undefined) report.drop('default-graph-statements', name)
    else if (!graph.isWellFormed() || graph.includes('\0')) report.drop('bad-iri', `${name}: name of a graph`)
    else quads.add(store, graph, [subject, predicate, object])
  },
  problem: (problem, place) => report.note(problem, place),
})

async function loadStore(store: OldStore, source: QuadSource, loading: Loading): Promise<string | undefined> {
  const { quads, report, progress, system } = loading
  const begun = system.monotonic()
  const before = quads.count
  let bytes = 0
  progress.begin(`Reading ${source.name}`, source.bytes)
  const onBytes = (count: number): void => {
    bytes += count
    const seconds = (system.monotonic() - begun) / 1000
    progress.at(bytes, `${Math.round((quads.count - before) / Math.max(seconds, 0.001))} quads/s`)
  }
  const name = store === 'main' ? 'repository' : 'provenance store'
  try {
    const format = await source.read(sinkOf(store, source.name, loading), onBytes)
    report.from(name, `${source.name} (${format})`)
    return format
  } catch (error) {
    if (!(error instanceof Unusable)) throw error
    if (error.code === 'truncated' && loading.acceptTruncated) {
      report.from(name, `${source.name} (cut off: ${error.message})`)
      return undefined
    }
    throw new Unusable(error.code, `${source.name}: ${error.message}`, { cause: error })
  } finally {
    progress.end()
  }
}
