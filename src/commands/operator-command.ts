import { type OperatorStore, withStore } from '../assembly/operator.ts'
import { InvalidInput, ServiceError, StoreUnavailable } from '../base/errors.ts'
import type { Settings } from '../config/settings.ts'
import { type Command, parseArguments, print, printError, UsageError } from './command.ts'
import { settingsFrom, settingsUsage } from './settings-options.ts'

/** What one command does with the store. */
export interface Verb {
  /** Words that must follow, as in `NAME`. */
  readonly words?: readonly string[]
  /** Words that may follow those. */
  readonly further?: readonly string[]
  readonly flags?: readonly string[]
  /** Options with a value. */
  readonly options?: readonly string[]
  /** Resolves to what is printed. */
  readonly run: (store: OperatorStore, call: Call) => Promise<Answer>
}

export interface Call {
  readonly words: readonly string[]
  readonly has: (flag: string) => boolean
  readonly option: (name: string) => string | undefined
}

/** The result for programs, and its lines for people; or many results, of which each is printed as one line. */
export type Answer =
  | { readonly json: unknown; readonly lines: readonly string[] }
  | { readonly each: AsyncIterable<{ readonly json: unknown; readonly line: string }> }

/** A command whose first word says what to do. */
export function family(name: string, summary: string, verbs: Readonly<Record<string, Verb>>): Command {
  const calls = Object.entries(verbs).map(([word, verb]) => `${word} ${usageOf(verb)}`.trimEnd())
  return {
    name,
    summary,
    usage: calls.map(call => `${call} [--json] ${settingsUsage}`).join(`\n       ${name} `),
    run: async ([word = '', ...args]) => {
      const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined
      if (!verb) throw new UsageError(`Say what to do: ${Object.keys(verbs).join(', ')}.`)
      return await runVerb(`${name} ${word}`, verb, args)
    },
  }
}

/** A command that does one thing. */
export const single = (name: string, summary: string, verb: Verb): Command => ({
  name,
  summary,
  usage: `${usageOf(verb)} [--json] ${settingsUsage}`.trimStart(),
  run: args => runVerb(name, verb, args),
})

const usageOf = ({ words = [], further = [], flags = [], options = [] }: Verb): string =>
  [
    ...words,
    ...further.map(word => `[${word}]`),
    ...flags.map(flag => `[--${flag}]`),
    ...options.map(option => `[--${option} ${option.toUpperCase()}]`),
  ].join(' ')

async function runVerb(name: string, verb: Verb, args: readonly string[]): Promise<number> {
  const { call, isJson, settings } = readCall(verb, args)
  return await statusOf(name, settings, async store => await printAnswer(await verb.run(store, call), isJson))
}

/** Works with the store. Resolves to the exit status: 2 for wrong arguments, 1 for what the store refuses. */
export async function statusOf(
  name: string,
  settings: Settings,
  work: (store: OperatorStore) => Promise<void>,
): Promise<number> {
  try {
    await withStore(settings, work)
    return 0
  } catch (error) {
    if (!(error instanceof ServiceError) || error instanceof StoreUnavailable) throw error
    printError(`stowage ${name}: ${error.message}`)
    return error instanceof InvalidInput ? 2 : 1
  }
}

async function printAnswer(answer: Answer, isJson: boolean): Promise<void> {
  if ('each' in answer) {
    for await (const { json, line } of answer.each) print(isJson ? JSON.stringify(json) : line)
    return
  }
  if (isJson) return print(JSON.stringify(answer.json))
  for (const line of answer.lines) print(line)
}

function readCall({ words = [], further = [], flags = [], options = [] }: Verb, args: readonly string[]) {
  const { positionals, values } = parsed(args, [...flags, 'json'], [...options, 'config'])
  const [missing] = words.slice(positionals.length)
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  const extra = positionals[words.length + further.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many.`)
  const text = (name: string): string | undefined => values[name] as string | undefined
  const { settings } = settingsFrom({ config: text('config'), set: values['set'] as string[] | undefined }).loaded
  const call: Call = { words: positionals, has: flag => values[flag] === true, option: text }
  return { call, settings, isJson: values['json'] === true }
}

function parsed(args: readonly string[], flags: readonly string[], texts: readonly string[]) {
  const options = Object.fromEntries([
    ...flags.map(flag => [flag, { type: 'boolean' as const }] as const),
    ...texts.map(text => [text, { type: 'string' as const }] as const),
    ['set', { type: 'string' as const, multiple: true }] as const,
  ])
  const { positionals, values } = parseArguments(args, options)
  return { positionals, values: values as Readonly<Record<string, unknown>> }
}

/** Rows as columns of equal width. */
export function table(rows: ReadonlyArray<readonly string[]>): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map(row => row[at]?.length ?? 0)))
  return rows.map(row =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
