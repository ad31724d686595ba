import type { System } from '../../base/system.ts'
import type { QuadSink } from './formats/quads.ts'
import { Unusable } from './formats/quads.ts'
import type { Progress } from './progress.ts'
import type { OldStore, QuadTable } from './quad-table.ts'
import type { Report } from './report.ts'
import type { Input, QuadSource } from './source.ts'

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

async function loadStore(store: OldStore, source: QuadSource, loading: Loading): Promise<string | undefined> {
  const { quads, report, progress, system } = loading
  const begun = system.monotonic()
  const before = quads.count
  let bytes = 0
  progress.begin(`Reading ${source.name}`, source.bytes)
  const sink: QuadSink = {
    quad(subject, predicate, object, graph) {
      report.read(1)
      // A name that no engine can store is not the name of a graph of EntryStore.
      if (graph === undefined) report.drop('default-graph-statements', source.name)
      else if (!graph.isWellFormed() || graph.includes('\0')) report.drop('bad-iri', `${source.name}: name of a graph`)
      else quads.add(store, graph, [subject, predicate, object])
    },
    problem: (problem, place) => report.note(problem, place),
  }
  const onBytes = (count: number): void => {
    bytes += count
    const seconds = (system.monotonic() - begun) / 1000
    progress.at(bytes, `${Math.round((quads.count - before) / Math.max(seconds, 0.001))} quads/s`)
  }
  const name = store === 'main' ? 'repository' : 'provenance store'
  try {
    const format = await source.read(sink, onBytes)
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
