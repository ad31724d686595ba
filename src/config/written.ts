import { Properties, type PropertyNode } from 'properties-file/parser'
import type { Report } from './report.ts'

/** The source of a value. */
export type Origin = 'default' | 'file' | '--set'

export interface ConfigFile {
  /** For messages. */
  readonly path: string
  /** Java .properties; a byte order mark is ignored. */
  readonly text: string
}

/** What was written for a key. */
export interface Written {
  readonly text: string
  readonly origin: Exclude<Origin, 'default'>
}

/**
 * All that is written, by key: `key=value` overrides before the file (D10.1). No value is quoted in the problems found,
 * as it may be a secret.
 */
export function readWritten(
  file: ConfigFile | undefined,
  overrides: readonly string[],
  report: Report,
): ReadonlyMap<string, Written> {
  const written = new Map<string, Written>()
  const lines = new Map<string, number>()
  for (const node of file ? parseProperties(file, report) : []) {
    const line = lines.get(node.key)
    if (line !== undefined) {
      report.problem(`${node.key} is set twice, in lines ${line} and ${node.startingLineNumber} of ${file?.path}`)
    }
    lines.set(node.key, node.startingLineNumber)
    written.set(node.key, { text: node.value, origin: 'file' })
  }
  for (const [index, override] of overrides.entries()) {
    const end = override.indexOf('=')
    const key = override.slice(0, end).trim()
    if (end === -1 || key === '') report.problem(`--set expects key=value (number ${index + 1} is not of this form)`)
    else if (written.get(key)?.origin === '--set') report.problem(`${key} is set twice by --set`)
    else written.set(key, { text: override.slice(end + 1), origin: '--set' })
  }
  return written
}

function parseProperties(file: ConfigFile, report: Report): readonly PropertyNode[] {
  try {
    return new Properties(file.text).getProperties()
  } catch {
    // The only thing the grammar refuses; the parser's message quotes the text around it.
    report.problem(`${file.path} has a malformed \\u escape (four hexadecimal digits are expected)`)
    return []
  }
}
