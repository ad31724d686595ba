import { readBinaryRdf } from './binary-rdf.ts'
import { decodedText, gunzipped, peek } from './chunks.ts'
import { readMemoryStore } from './memory-store.ts'
import { literalOf, type ObjectTerm, type QuadSink, truncated, Unusable } from './quads.ts'
import { readTrig } from './trig.ts'
import { readTrix } from './trix.ts'

type Format = 'TriX' | 'TriG' | 'N-Quads' | 'BinaryRDF' | 'memory store'

const readers: Readonly<Record<Format, (chunks: AsyncIterable<Uint8Array>, sink: QuadSink) => Promise<void>>> = {
  TriX: readTrix,
  TriG: readTrig,
  'N-Quads': readNQuads,
  BinaryRDF: readBinaryRdf,
  'memory store': readMemoryStore,
}

const HEAD_BYTES = 4096

/**
 * Reads a file of quads, compressed or not, and detects its format by its content.
 * @returns the format, with `, gzip` when it is compressed
 * @throws {Unusable} `truncated`, `damaged-file`, `format-not-quads`, `rdf-star`
 */
export async function readQuads(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<string> {
  const outer = await peek(chunks, HEAD_BYTES)
  const isGzip = outer.head[0] === 0x1f && outer.head[1] === 0x8b
  const { head, all } = isGzip ? await peek(gunzipped(outer.all), HEAD_BYTES) : outer
  const format = formatOf(head)
  await readers[format](all, sink)
  return isGzip ? `${format}, gzip` : format
}

/** Detects the format by the first bytes. @throws {Unusable} `truncated` for an empty file, `format-not-quads` */
function formatOf(head: Uint8Array): Format {
  const letters = Buffer.from(head.subarray(0, 4)).toString('latin1')
  if (letters === 'BRDF') return 'BinaryRDF'
  if (letters === 'BMSF') return 'memory store'
  const text = new TextDecoder().decode(head).replace(/^(?:\s+|#[^\n\r]*)+/u, '')
  if (text === '' && head.length < HEAD_BYTES) throw new Unusable('truncated', 'it is empty')
  if (/^<(\?xml|!DOCTYPE|!--|TriX\b|[\w.-]+:TriX\b)/i.test(text)) return 'TriX'
  if (/^<rdf:RDF\b/i.test(text) || text.startsWith('[') || /^\{\s*"/.test(text)) {
    throw new Unusable('format-not-quads', 'it is RDF/XML or JSON, which hold no graph names here')
  }
  if (/^(@prefix|@base|prefix\b|base\b|graph\b|\{)/i.test(text) || /^(<[^>]*>|_:\S+|\w*:\S*)\s*\{/.test(text))
    return 'TriG'
  return 'N-Quads'
}

/** A tag is read as it was written, also one with blanks. */
const STATEMENT =
  /^\s*(?:<([^>]*)>|(_:[^\s<>"]+))\s*<([^>]*)>\s*(?:<([^>]*)>|(_:[^\s<>"]+)|"([^"\\]*(?:\\.[^"\\]*)*)"(?:@([^<>"]{0,200}?)|\^\^<([^>]*)>)?)\s*(?:(?:<([^>]*)>|(_:[^\s<>"]+))\s*)?\.\s*(?:#.*)?$/s

/**
 * Reads N-Quads line by line, so that a bad line affects one statement only.
 * @throws {Unusable} `truncated` when the last line is cut off, because the format has no other end
 */
async function readNQuads(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<void> {
  let begun = ''
  let number = 0
  for await (const text of decodedText(chunks)) {
    const lines = (begun + text).split(/\r\n|[\n\r]/)
    begun = lines.pop() ?? ''
    for (const line of lines) readLine(line, ++number, sink)
  }
  if (begun.trim() === '') return
  if (!STATEMENT.test(begun) && !begun.trim().startsWith('#'))
    throw truncated(`the last line (${number + 1}) is cut off`)
  readLine(begun, number + 1, sink)
}

function readLine(line: string, number: number, sink: QuadSink): void {
  const found = STATEMENT.exec(line)
  if (!found) {
    if (line.trim() !== '' && !line.trim().startsWith('#')) sink.problem('unreadable-statement', `line ${number}`)
    return
  }
  const [, subject, subjectLabel, predicate = '', iri, label, value, lang, datatype, graph, graphLabel] = found
  const object: ObjectTerm =
    value === undefined
      ? resource(iri, label)
      : literalOf(unescaped(value), lang, datatype === undefined ? undefined : unescaped(datatype))
  const name = graph === undefined && graphLabel === undefined ? undefined : resource(graph, graphLabel)
  sink.quad(resource(subject, subjectLabel), unescaped(predicate), object, name)
}

const resource = (iri: string | undefined, label: string | undefined): string =>
  iri === undefined ? (label ?? '') : unescaped(iri)

const escapes: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' }

function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replaceAll(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs, (_found, four, eight, one: string) => {
    const code = Number.parseInt((four ?? eight ?? '') as string, 16)
    if (Number.isNaN(code)) return escapes[one] ?? one
    return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
  })
}
