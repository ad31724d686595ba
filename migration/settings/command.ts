import { escapeValue } from 'properties-file/escape'
import { StartupError } from '../../src/base/errors.ts'
import { readConfigFile, writeNewConfigFile } from '../../src/config/file.ts'
import { keys } from '../../src/config/keys.ts'
import { loadSettings } from '../../src/config/load.ts'
import { isList, locate } from '../../src/config/key-pattern.ts'
import { Report } from '../../src/config/report.ts'
import { readEnvironment } from '../../src/config/environment.ts'
import { readWritten } from '../../src/config/source-values.ts'
import { type KnownSettings, type Outcome, renumbered, translate } from './translate.ts'
import { parseArguments, print, printError, UsageError } from '../../src/core/command.ts'

const MASK = '********'
const CLEAN = 0
const CHANGED = 1

/** `stowage import entrystore-config`: prints the settings; what became of each key goes to standard error. */
export async function importConfig(args: readonly string[]): Promise<number> {
  const { file, output } = readArguments(args)
  const written = readFile(file)
  const outcomes = withoutContradictions(translate(written, known))
  if (output === undefined) {
    const isTerminal = process.stdout.isTTY
    print(asProperties(outcomes, isTerminal).trimEnd())
    if (isTerminal && outcomes.some(hasSecret))
      printError('Secrets are not shown here: write them to a file with --output FILE.')
  } else {
    writeNewConfigFile(output, asProperties(outcomes, false))
    printError(
      `The settings are in ${output}. Add service.data.folder, or the store that you chose, and run \`stowage config check\`.`,
    )
  }
  for (const { oldKey, outcome, why, settings } of outcomes) {
    const targets = settings.map(({ key }) => key).join(', ')
    printError(`${outcome}: ${oldKey}${targets === '' ? '' : ` → ${targets}`}${why === undefined ? '' : `. ${why}`}`)
  }
  return outcomes.every(({ outcome }) => outcome === 'translated') ? CLEAN : CHANGED
}

/** @throws {UsageError} */
function readArguments(args: readonly string[]): { readonly file: string; readonly output: string | undefined } {
  const parsed = parseArguments(args, { output: { type: 'string' } })
  const [file, ...more] = parsed.positionals
  if (file === undefined || more.length > 0) throw new UsageError('Name one file: entrystore.properties.')
  return { file, output: parsed.values.output }
}

/** @throws {StartupError} */
function readFile(path: string): Array<readonly [string, string]> {
  const report = new Report()
  const { written } = readWritten({ file: readConfigFile(path, readEnvironment()), overrides: [] }, report)
  if (report.problems.length > 0) throw new StartupError(report.problems.join('\n'))
  return [...written].map(([key, { text }]) => [key, text] as const)
}

const known: KnownSettings = {
  isKnown: key => locate(key) !== undefined,
  isListValue(key) {
    const place = locate(key)
    return place !== undefined && isList(place.key) && /^\d+$/.test(place.number ?? '')
  },
  problemWith(key, value) {
    const place = locate(key)
    if (!place) return 'there is no such setting'
    const parsed = keys[place.key].kind.parse(value)
    return 'problem' in parsed ? parsed.problem : undefined
  },
}

/** Drops settings that contradict others, until those that remain would start a service. @throws {StartupError} */
function withoutContradictions(outcomes: readonly Outcome[]): Outcome[] {
  let current = [...outcomes]
  for (;;) {
    const settings = current.flatMap(outcome => outcome.settings)
    try {
      loadSettings({ overrides: settings.map(({ key, value }) => `${key}=${value}`) })
      return current
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      const lines = error.message.split('\n')
      const why = (outcome: Outcome): string | undefined =>
        lines.find(line => outcome.settings.some(({ key }) => line.split(/[\s,:()=]/).includes(key)))
      const next = current.map(outcome => {
        const reason = why(outcome)
        return reason === undefined
          ? outcome
          : { ...outcome, outcome: 'dropped' as const, why: `${reason}.`, settings: [] }
      })
      if (next.every((outcome, index) => outcome === current[index])) throw error
      current = renumbered(next, known)
    }
  }
}

const isSecret = (key: string): boolean => {
  const place = locate(key)
  return place !== undefined && keys[place.key].kind.secret
}
const hasSecret = ({ settings }: Outcome): boolean => settings.some(({ key }) => isSecret(key))

function asProperties(outcomes: readonly Outcome[], isTerminal: boolean): string {
  const lines = outcomes.flatMap(({ oldKey, why, settings }) =>
    settings.length === 0
      ? [`# ${oldKey}: ${why ?? 'dropped'}`]
      : settings.map(({ key, value }) => `${key}=${isTerminal && isSecret(key) ? MASK : escapeValue(value)}`),
  )
  return `${lines.join('\n')}\n`
}
