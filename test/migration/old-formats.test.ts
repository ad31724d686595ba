import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type ObjectTerm, type QuadSink, Unusable } from '../../migration/entrystore/formats/quads.ts'
import { readQuads } from '../../migration/entrystore/formats/read-quads.ts'
import { fixtures } from '../support/entrystore.ts'

type Quad = readonly [subject: string, predicate: string, object: ObjectTerm, graph: string | undefined]

/** In pieces of an odd size, so that every kind of record is cut somewhere. */
async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function quadsOf(bytes: Buffer, size = 977): Promise<{ readonly quads: Quad[]; readonly format: string }> {
  const quads: Quad[] = []
  const sink: QuadSink = {
    quad: (...quad) => quads.push(quad),
    problem: (problem, place) => assert.fail(`${problem} in ${place}`),
  }
  return { format: await readQuads(pieces(bytes, size), sink), quads }
}

const original = await quadsOf(readFileSync(join(fixtures, 'backups/nq/repository.nq')))
/** What the versions wrote differently: lengths beyond one byte, and characters outside of the basic plane. */
const quads: readonly Quad[] = [
  ...original.quads,
  ['http://example.org/s', 'http://example.org/p', ['NUL \0, å, 𝄞, '.repeat(99)], 'http://example.org/g'],
  ['_:b', 'http://example.org/p', ['words', 'sv'], 'http://example.org/g'],
]

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const uint16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

type Text = (text: string) => Buffer

const utf16: Text = text => Buffer.concat([int32(text.length), Buffer.from(text, 'utf16le').swap16()])
const utf8: Text = text => Buffer.concat([int32(Buffer.byteLength(text)), Buffer.from(text)])
/** Java's `writeUTF`: each half of a surrogate pair for itself, and NUL in two bytes. */
const modifiedUtf8: Text = text => {
  const bytes = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)).flatMap(code =>
    code > 0 && code < 0x80
      ? [code]
      : code < 0x800
        ? [0xc0 | (code >> 6), 0x80 | (code & 0x3f)]
        : [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)],
  )
  return Buffer.concat([uint16(bytes.length), Buffer.from(bytes)])
}

interface Kinds {
  readonly iri: number
  readonly blank: number
  readonly plain: number
  readonly language: number
  readonly typed: number
}

function valueOf(value: ObjectTerm, kinds: Kinds, text: Text, datatypeOf: Text): Buffer {
  if (typeof value === 'string') {
    const isBlank = value.startsWith('_:')
    return Buffer.concat([Buffer.from([isBlank ? kinds.blank : kinds.iri]), text(isBlank ? value.slice(2) : value)])
  }
  const [label, language, datatype] = value
  const kind = datatype === undefined ? (typeof language === 'string' ? kinds.language : kinds.plain) : kinds.typed
  const rest = datatype === undefined ? (typeof language === 'string' ? [text(language)] : []) : [datatypeOf(datatype)]
  return Buffer.concat([Buffer.from([kind]), text(label), ...rest])
}

/** The first version of BinaryRDF: lengths are int32, texts are UTF-16. Each predicate is declared once. */
function binaryRdfOfVersion1(end = 127): Buffer {
  const kinds = { iri: 1, blank: 2, plain: 3, language: 4, typed: 5 }
  const records: Buffer[] = [Buffer.from('BRDF'), int32(1), Buffer.from([0]), utf16('es'), utf16('http://example.org/')]
  const declared = new Map<string, number>()
  records.push(Buffer.from([2]), utf16('a comment'))
  for (const [subject, predicate, object, graph] of quads) {
    const number = declared.get(predicate) ?? declared.size
    if (!declared.has(predicate)) {
      records.push(Buffer.from([3]), int32(number), valueOf(predicate, kinds, utf16, utf16))
      declared.set(predicate, number)
    }
    records.push(
      Buffer.from([1]),
      valueOf(subject, kinds, utf16, utf16),
      Buffer.concat([Buffer.from([6]), int32(number)]),
      valueOf(object, kinds, utf16, utf16),
      graph === undefined ? Buffer.from([0]) : valueOf(graph, kinds, utf16, utf16),
    )
  }
  return Buffer.concat([...records, Buffer.from([end])])
}

/** A memory store; one inferred statement in it is no data. */
function memoryStore(version: 1 | 2 | 3, extra: readonly Buffer[] = []): Buffer {
  const text = version === 1 ? modifiedUtf8 : utf8
  const kinds = { iri: 6, blank: 7, plain: 8, language: 9, typed: 10 }
  const datatypeOf: Text = datatype => Buffer.concat([Buffer.from([kinds.iri]), text(datatype)])
  const value = (term: ObjectTerm): Buffer => valueOf(term, kinds, text, datatypeOf)
  const namespace = [Buffer.from([1]), text('es'), text('http://example.org/')]
  if (version === 1) namespace.push(Buffer.from([0]))
  const statements = quads.map(([subject, predicate, object, graph]) =>
    Buffer.concat([
      Buffer.from([graph === undefined ? 2 : 3]),
      ...[subject, predicate, object, ...(graph === undefined ? [] : [graph])].map(value),
    ]),
  )
  const inferred = Buffer.concat([
    Buffer.from([4]),
    ...['http://example.org/s', 'http://example.org/p', 'http://example.org/o'].map(value),
  ])
  const records = Buffer.concat([...namespace, inferred, ...statements, ...extra, Buffer.from([127])])
  return Buffer.concat([Buffer.from('BMSF'), Buffer.from([version]), gzipSync(records)])
}

test('BinaryRDF of version 1 gives the quads of the other formats, wherever a read ends', async () => {
  for (const size of [1, 977, 2 ** 20]) {
    const read = await quadsOf(binaryRdfOfVersion1(), size)
    assert.equal(read.format, 'BinaryRDF')
    assert.deepEqual(read.quads, quads)
  }
})

for (const version of [1, 2, 3] as const) {
  test(`a memory store of version ${version} gives the quads of the other formats`, async () => {
    for (const size of [1, 977]) {
      const read = await quadsOf(memoryStore(version), size)
      assert.equal(read.format, 'memory store')
      assert.deepEqual(read.quads, quads)
    }
  })
}

const isUnusable = (code: string) => (error: unknown) => error instanceof Unusable && error.code === code

test('statements about statements and unknown versions are refused', async () => {
  const star = Buffer.concat([Buffer.from([2, 11])])
  await assert.rejects(quadsOf(memoryStore(3, [star])), isUnusable('rdf-star'))
  const version1 = binaryRdfOfVersion1(1)
  await assert.rejects(quadsOf(Buffer.concat([version1, Buffer.from([7])])), isUnusable('rdf-star'))
  const unknown = Buffer.from(version1)
  unknown.writeInt32BE(3, 4)
  await assert.rejects(quadsOf(unknown), isUnusable('damaged-file'))
  await assert.rejects(quadsOf(Buffer.concat([Buffer.from('BMSF'), Buffer.from([4])])), isUnusable('damaged-file'))
  await assert.rejects(quadsOf(version1), isUnusable('truncated'))
  const cut = memoryStore(2)
  await assert.rejects(quadsOf(cut.subarray(0, cut.length - 20)), isUnusable('truncated'))
})
