import { ServiceError, StoreUnavailable } from '../base/errors.ts'
import {
  type Command,
  parseArguments,
  print,
  printError,
  type StoreOpener,
  settingsUsage,
  UsageError,
  wrongWord,
} from './command.ts'
import type { OperatorStore } from './operator-store.ts'

/** What one command does with the store. */
export interface Verb<S = OperatorStore> {
  /** Words that must follow, as in `NAME`. */
  readonly words?: readonly string[]
  /** Words that may follow them. */
  readonly further?: readonly string[]
  readonly flags?: readonly string[]
  /** Options with a value. */
  readonly options?: readonly string[]
  /** The flag with which the command makes a store where there is none. */
  readonly makesStoreWith?: string
  /** Resolves to what is printed. */
  readonly run: (store: S, call: Call) => Promise<Answer>
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
export function family<S>(
  opener: StoreOpener<S>,
  name: string,
  summary: string,
  verbs: Readonly<Record<string, Verb<S>>>,
): Command {
  const calls = Object.entries(verbs).map(([word, verb]) => `${word} ${usageOf(verb)}`.trimEnd())
  return {
    name,
    summary,
    usage: calls.map(call => `${call} [--json] ${settingsUsage}`).join(`\n       ${name} `),
    run: async ([word = '', ...args]) => {
      const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined
      if (!verb) throw wrongWord(name, Object.keys(verbs), word)
      return await runVerb(opener, `${name} ${word}`, verb, args)
    },
  }
}

/** A command that does one thing. */
export const single = <S>(opener: StoreOpener<S>, name: string, summary: string, verb: Verb<S>): Command => ({
  name,
  summary,
  usage: `${usageOf(verb)} [--json] ${settingsUsage}`.trimStart(),
  run: args => runVerb(opener, name, verb, args),
})

/** The placeholder for the value of an option, where it is not the name of the option. */
const placeholders: Readonly<Record<string, string>> = {
  limit: 'N',
  'max-files': 'N',
  since: 'TIME',
  until: 'TIME',
  contexts: 'ID,ID…',
  session: 'ID',
  user: 'NAME',
}

const usageOf = ({ words = [], further = [], flags = [], options = [] }: Verb<never>): string =>
  [
    ...words,
    ...further.map(word => `[${word}]`),
    ...flags.map(flag => `[--${flag}]`),
    ...options.map(option => `[--${option} ${placeholders[option] ?? option.toUpperCase()}]`),
  ].join(' ')

async function runVerb<S>(
  opener: StoreOpener<S>,
  name: string,
  verb: Verb<S>,
  args: readonly string[],
): Promise<number> {
  const { call, isJson, options } = readCall(verb, args)
  const settings = opener.settingsFrom(options)
  const makesStore = verb.makesStoreWith !== undefined && call.has(verb.makesStoreWith)
  const work = async (store: S) => await printAnswer(await verb.run(store, call), isJson)
  return await statusOf(name, () => opener.withStore(settings, work, { makesStore }))
}

/** Works with a store. Resolves to the exit status: 1 for what the store refuses. @throws {UsageError} for wrong arguments */
export async function statusOf(name: string, work: () => Promise<void>): Promise<number> {
  try {
    await work()
    return 0
  } catch (error) {
    if (!(error instanceof ServiceError) || error instanceof StoreUnavailable) throw error
    printError(`stowage ${name}: ${error.message}`)
    return 1
  }
}

async function printAnswer(answer: Answer, isJson: boolean): Promise<void> {
  if ('each' in answer) {
    let isRead = true
    process.stdout.once('error', () => (isRead = false))
    for await (const { json, line } of answer.each) {
      if (!isRead) return
      print(isJson ? JSON.stringify(json) : line)
    }
    return
  }
  if (isJson) return print(JSON.stringify(answer.json))
  for (const line of answer.lines) print(line)
}

function readCall({ words = [], further = [], flags = [], options = [] }: Verb<never>, args: readonly string[]) {
  const { positionals, values } = parsed(args, [...flags, 'json'], [...options, 'config'])
  const [missing] = words.slice(positionals.length)
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  const extra = positionals[words.length + further.length]
  if (extra !== undefined) throw new UsageError(`"${extra}" is one word too many.`)
  const text = (name: string): string | undefined => values[name] as string | undefined
  const call: Call = { words: positionals, has: flag => values[flag] === true, option: text }
  return {
    call,
    options: { config: text('config'), set: values['set'] as string[] | undefined },
    isJson: values['json'] === true,
  }
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
