import { type ObjectTerm, literalOf, type QuadSink, truncated } from './quads.ts'
import { decodedText } from './text-chunks.ts'

const STATEMENT =
  /^\s*(?:<([^>]*)>|(_:[^\s<>"]+))\s*<([^>]*)>\s*(?:<([^>]*)>|(_:[^\s<>"]+)|"([^"\\]*(?:\\.[^"\\]*)*)"(?:@([^\s<]+)|\^\^<([^>]*)>)?)\s*(?:<([^>]*)>|(_:[^\s<>"]+))?\s*\.\s*(?:#.*)?$/s

/**
 * Reads N-Quads line by line, so that a bad line affects one statement only.
 * @throws {Unusable} `truncated` when the last line is cut off, because the format has no other end
 */
export async function readNQuads(chunks: AsyncIterable<Uint8Array>, sink: QuadSink): Promise<void> {
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
