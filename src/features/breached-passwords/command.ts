import { readHashLists, readPasswordLists } from './password-lists.ts'
import { readPieces, SortedHashes, SortedHashesWriter } from './sorted-hashes.ts'
import { type Command, parseArguments, print, UsageError, wrongWord } from '../../core/command.ts'
import { count } from '../../core/copied.ts'

export const breachedPasswords: Command = {
  name: 'breached-passwords',
  usage: 'build --output FILTER [--min-count N] [--plain] FILE…\n       breached-passwords verify FILTER',
  summary:
    'Makes a list of breached passwords from the download of Have I Been Pwned; see docs/passwords-and-lockout.md.',
  async run([verb, ...args]) {
    if (verb === 'build') return await build(args)
    if (verb === 'verify') return verify(args)
    throw wrongWord('breached-passwords', ['build', 'verify'], verb)
  },
}

async function build(args: readonly string[]): Promise<number> {
  const { output, minCount, isPlain, files } = readArguments(args)
  const lists = files.map(name => ({ name, pieces: readPieces(name) }))
  const plain = isPlain ? await readPasswordLists(lists) : undefined
  const writer = new SortedHashesWriter(output)
  try {
    if (plain) for (const hash of plain) writer.add(hash)
    else await readHashLists(lists, minCount, hash => writer.add(hash))
    const size = writer.finish()
    print(`${output} holds ${count(writer.count, 'password')} in ${count(size, 'byte')}.`)
    return 0
  } catch (error) {
    writer.abandon()
    throw error
  }
}

function verify([file, ...rest]: readonly string[]): number {
  if (file === undefined || file.startsWith('-') || rest.length > 0) throw new UsageError('Name one list.')
  const filter = SortedHashes.open(file)
  try {
    // A password is looked up as it is and in lower case.
    const mistakes = 2 * filter.verify() * 1e6
    print(
      `${file} is complete: ${count(filter.count, 'password')}, ${mistakes.toFixed(2)} of a million others refused by mistake.`,
    )
    return 0
  } finally {
    filter.close()
  }
}

function readArguments(args: readonly string[]) {
  const options = { output: { type: 'string' }, 'min-count': { type: 'string' }, plain: { type: 'boolean' } } as const
  const { values, positionals } = parseArguments(args, options)
  const minCount = values['min-count'] ?? '1'
  if (!/^[1-9]\d{0,14}$/.test(minCount)) throw new UsageError('--min-count is a whole number from 1.')
  if (values.output === undefined) throw new UsageError('Name the list to be written with --output.')
  if (positionals.length === 0) throw new UsageError('Name the files to read.')
  const isPlain = values.plain === true
  if (isPlain && values['min-count'] !== undefined) throw new UsageError('A plain list has no counts.')
  return { output: values.output, minCount: Number(minCount), isPlain, files: positionals }
}
