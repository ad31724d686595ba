import { readFileSync } from 'node:fs'
import { Properties, type PropertyNode } from 'properties-file/parser'
import { finding, type Finding } from '../base/finding.ts'
import { adviceForRemovedVariable, nearestVariable, settingsOf } from './from-environment.ts'
import { secretOfFile } from './key-pattern.ts'
import type { Report } from './report.ts'

/** The source of a value. */
export type Origin = 'default' | 'file' | 'environment' | '--set' | 'secret file'

export interface ConfigFile {
  /** For messages. */
  readonly path: string
  /** Java .properties; a byte order mark is ignored. */
  readonly text: string
}

/** The sources of settings. */
export interface WrittenSources {
  readonly file?: ConfigFile | undefined
  /** Environment variables. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Each `key=value`. */
  readonly overrides: readonly string[]
}

/** What was written for a key. */
export interface Written {
  readonly text: string
  readonly origin: Exclude<Origin, 'default'>
}

interface AllWritten {
  readonly written: ReadonlyMap<string, Written>
  /** Variables that look like settings but are none. They are also among the warnings of the report. */
  readonly unknownVariables: readonly string[]
}

/**
 * All that is written, by key: `key=value` overrides before the environment, that before the file (D10.1). No value is quoted
 * in the problems found, as it may be a secret.
 */
export function readWritten({ file, environment = {}, overrides }: WrittenSources, report: Report): AllWritten {
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
  const { found, unknown } = settingsOf(environment, new Map([...written].map(([key, { text }]) => [key, text])))
  for (const { key, text } of found) written.set(key, { text, origin: 'environment' })
  const unknownVariables = unknown.filter(variable => {
    const advice = adviceForRemovedVariable(variable)
    if (advice !== undefined) report.problem(`${variable} is no longer the variable of a setting: ${advice}. Remove it`)
    else report.warnOfUnknown(describeUnknown(variable))
    return advice === undefined
  })
  for (const [index, override] of overrides.entries()) {
    const end = override.indexOf('=')
    const key = override.slice(0, end).trim()
    if (end === -1 || key === '') report.problem(`--set expects key=value (number ${index + 1} is not of this form)`)
    else if (written.get(key)?.origin === '--set') report.problem(`${key} is set twice by --set`)
    else written.set(key, { text: override.slice(end + 1), origin: '--set' })
  }
  readSecretFiles(written, report)
  return { written, unknownVariables }
}

function describeUnknown(variable: string): Finding {
  const nearest = nearestVariable(variable)
  return nearest === undefined
    ? finding('unknown-variable', '{variable} is not the variable of a known setting', { variable })
    : finding('misspelt-variable', '{variable} is not the variable of a known setting; did you mean {nearest}?', {
        variable,
        nearest,
      })
}

/** Replaces each `….password-file` by what the file holds, without line breaks at its end. */
function readSecretFiles(written: Map<string, Written>, report: Report): void {
  for (const [fileKey, { text: path, origin }] of written) {
    const key = secretOfFile(fileKey)
    if (key === undefined) continue
    written.delete(fileKey)
    const other = written.get(key)
    if (other?.origin === origin) report.problem(`${key} and ${fileKey} are both set: leave one of them out`)
    if (other !== undefined && ORDER.indexOf(other.origin) >= ORDER.indexOf(origin)) continue
    try {
      const text = readFileSync(path.trim(), 'utf8').replace(/[\r\n]+$/, '')
      if (text === '') report.problem(`${fileKey} names ${path}, but that file is empty`)
      written.set(key, { text, origin: 'secret file' })
    } catch (error) {
      report.problem(`${fileKey} names ${path}, but that file cannot be read: ${(error as Error).message}`)
      // Otherwise another check would say that the key is missing.
      written.set(key, { text: path, origin: 'secret file' })
    }
  }
}

/** The later wins. */
const ORDER: readonly Origin[] = ['file', 'environment', '--set']

function parseProperties(file: ConfigFile, report: Report): readonly PropertyNode[] {
  try {
    return new Properties(file.text).getProperties()
  } catch {
    // The only thing the grammar refuses; the parser's message quotes the text around it.
    const line = file.text.split(/\r\n|[\r\n]/).findIndex(text => /(?<!\\)(?:\\\\)*\\u(?![\da-f]{4})/i.test(text)) + 1
    report.problem(`${file.path} has a malformed \\u escape in line ${line}: four hexadecimal digits are expected`)
    return []
  }
}
