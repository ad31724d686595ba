import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { realSystem } from '../../src/base/system.ts'
import { compareServers } from './compare.ts'
import { Server } from './server.ts'
import { parseArguments, print, printError, UsageError } from '../../src/core/command.ts'

export const importCompareUsage = 'OLD_URL NEW_URL --user NAME [--sample N]'

const options = { user: { type: 'string' }, sample: { type: 'string', default: '100' } } as const

/** `stowage import compare`: exit status 0 when nothing differs, 1 when something does. */
export async function importCompare(args: readonly string[]): Promise<number> {
  const { oldUrl, newUrl, user, sample } = read(args)
  const password = await askPassword(`Password of ${user}: `)
  const old = await Server.signIn(oldUrl, user, password)
  const now = await Server.signIn(newUrl, user, password)
  const { contexts, compared, differences } = await compareServers(old, now, { sample, system: realSystem })
  for (const { entry, lines } of differences) {
    print(`${entry}:`)
    for (const line of lines) print(`  ${line}`)
  }
  print(`${contexts} contexts and ${compared} entries compared, ${differences.length} differ.`)
  return differences.length === 0 ? 0 : 1
}

/** @throws {UsageError} */
function read(args: readonly string[]) {
  const parsed = parseArguments(args, options)
  const [oldUrl, newUrl, ...more] = parsed.positionals
  const { user, sample } = parsed.values
  const isAddress = (text: string | undefined): text is string => text !== undefined && /^https?:\/\/\S+$/.test(text)
  if (!isAddress(oldUrl) || !isAddress(newUrl) || more.length > 0)
    throw new UsageError(
      `Two addresses that begin with http:// or https:// must be named, but the arguments are: ${parsed.positionals.join(' ') || 'none'}.`,
    )
  if (user === undefined) throw new UsageError('The user who signs in to both must be named: --user NAME.')
  if (!/^\d{1,7}$/.test(sample)) throw new UsageError(`--sample must be a whole number of entries, but is "${sample}".`)
  return { oldUrl, newUrl, user, sample: Number(sample) }
}

/** Not from the arguments, which every process of the machine can read. Nothing is shown on a terminal. */
async function askPassword(question: string): Promise<string> {
  const isTerminal = process.stdin.isTTY
  if (isTerminal) process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: isTerminal })
  try {
    for await (const line of lines) return line
    throw new UsageError('The password is read from standard input, which has ended.')
  } finally {
    lines.close()
    if (isTerminal) printError('')
  }
}
