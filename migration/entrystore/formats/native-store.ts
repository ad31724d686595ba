import { emit, literalOf, type ObjectTerm, type QuadSink, Unusable } from './quads.ts'

/** A file with random access. */
export interface RandomAccessFile {
  readonly size: number
  /** The bytes from `position`; fewer at the end of the file. */
  read(position: number, length: number): Buffer
}

/** The files of a native store: `values.id`, `values.dat` and one index of its statements. */
interface NativeStoreFiles {
  readonly ids: RandomAccessFile
  readonly values: RandomAccessFile
  readonly triples: RandomAccessFile
}

const STATEMENT_BYTES = 17
const SLOT_BYTES = STATEMENT_BYTES + 4
const MAX_DEPTH = 64
/** The number of values and namespaces in memory. */
const MAX_CACHED = 50_000
/** Other requests run after this number of statements. */
const BATCH = 5_000

/** The bits of a statement's flags. */
const EXPLICIT = 1
const ADDED = 2
const REMOVED = 4

/**
 * Traverses the B-tree of one index of a stopped RDF4J NativeStore and looks up its values.
 * @throws {Unusable} `damaged-file`, `running`
 */
export async function readNativeStore(
  files: NativeStoreFiles,
  sink: QuadSink,
  turn: () => Promise<void>,
): Promise<void> {
  const header = files.triples.read(0, 20)
  if (header.toString('latin1', 0, 3) !== 'btf' || header.length < 16)
    throw damaged('its index of statements has no header')
  const [blockSize, valueSize, root] = [header.readInt32BE(4), header.readInt32BE(8), header.readInt32BE(12)]
  if (valueSize !== STATEMENT_BYTES || blockSize < 64 || blockSize > 2 ** 20)
    throw damaged('its index has unknown sizes')
  const values = new Values(files)
  let count = 0
  for (const statement of statementsBelow({ file: files.triples, blockSize }, root, 0)) {
    emitStatement(statement, values, sink)
    if (++count % BATCH === 0) await turn()
  }
}

interface Tree {
  readonly file: RandomAccessFile
  readonly blockSize: number
}

function* statementsBelow(tree: Tree, node: number, depth: number): Generator<Buffer> {
  if (node === 0) return
  if (node < 0 || depth > MAX_DEPTH) throw damaged('its index of statements is no tree')
  const block = tree.file.read(node * tree.blockSize, tree.blockSize)
  const count = block.length < 4 ? -1 : block.readInt32BE(0)
  const end = 4 + count * SLOT_BYTES
  if (count < 0 || end > block.length) throw damaged('a node of its index is cut off')
  // The last node of the file may end after its last value; a missing child does not exist.
  const childAt = (position: number): number => (position + 4 <= block.length ? block.readInt32BE(position) : 0)
  for (let slot = 0; slot < count; slot++) {
    const at = 4 + slot * SLOT_BYTES
    yield* statementsBelow(tree, childAt(at), depth + 1)
    yield block.subarray(at + 4, at + SLOT_BYTES)
  }
  yield* statementsBelow(tree, childAt(end), depth + 1)
}

function emitStatement(statement: Buffer, values: Values, sink: QuadSink): void {
  const flags = statement[16] ?? 0
  if ((flags & ADDED) !== 0 || (flags & REMOVED) !== 0) {
    throw new Unusable('running', 'a change of it was under way and was neither finished nor undone')
  }
  if ((flags & EXPLICIT) === 0) return
  const [s, p, o, c] = [0, 4, 8, 12].map(at => statement.readInt32BE(at)) as [number, number, number, number]
  emit(sink, [values.get(s), values.get(p), values.get(o), c === 0 ? undefined : values.get(c)])
}

class Values {
  readonly #files: NativeStoreFiles
  readonly #known = new Map<number, ObjectTerm>()
  readonly #namespaces = new Map<number, string>()

  constructor(files: NativeStoreFiles) {
    this.#files = files
    const [ids, values] = [files.ids.read(0, 3), files.values.read(0, 3)]
    if (ids.toString('latin1') !== 'nif' || values.toString('latin1') !== 'ndf')
      throw damaged('its values have no header')
  }

  get(id: number): ObjectTerm {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const value = this.#read(id)
    if (this.#known.size >= MAX_CACHED) this.#known.clear()
    this.#known.set(id, value)
    return value
  }

  #read(id: number): ObjectTerm {
    const record = this.#record(id)
    switch (record[0] ?? 0) {
      case 1:
        return this.#namespace(record.readInt32BE(1)) + record.toString('utf8', 5)
      case 2:
        return `_:${record.toString('utf8', 1)}`
      case 3: {
        const datatype = record.readInt32BE(1)
        const tagBytes = record[5] ?? 0
        const tag = record.toString('utf8', 6, 6 + tagBytes)
        const type = datatype === 0 ? undefined : this.get(datatype)
        return literalOf(record.toString('utf8', 6 + tagBytes), tag, typeof type === 'string' ? type : undefined)
      }
      default:
        throw damaged(`value ${id} is of an unknown kind`)
    }
  }

  #namespace(id: number): string {
    const known = this.#namespaces.get(id)
    if (known !== undefined) return known
    const namespace = this.#record(id).toString('utf8')
    if (this.#namespaces.size >= MAX_CACHED) this.#namespaces.clear()
    this.#namespaces.set(id, namespace)
    return namespace
  }

  #record(id: number): Buffer {
    const pointer = this.#files.ids.read(8 * id, 8)
    if (id <= 0 || pointer.length < 8) throw damaged(`value ${id} is missing`)
    const offset = Number(pointer.readBigInt64BE())
    const length = this.#files.values.read(offset, 4)
    const size = length.length < 4 ? -1 : length.readInt32BE(0)
    const record = size < 0 ? Buffer.alloc(0) : this.#files.values.read(offset + 4, size)
    if (size < 0 || record.length < size || size === 0) throw damaged(`value ${id} is cut off`)
    return record
  }
}

const damaged = (what: string): Unusable => new Unusable('damaged-file', what)
