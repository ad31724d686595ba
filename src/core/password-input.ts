import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { UsageError } from './command.ts'

/** The first line of standard input. On a terminal it is asked for and not shown. @throws {UsageError} */
export async function readPassword(prompt = 'Password: '): Promise<string> {
  const terminal = process.stdin.isTTY
  if (terminal) process.stderr.write(prompt)
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output, terminal })
  try {
    for await (const line of lines) if (line !== '') return line
  } finally {
    lines.close()
    if (terminal) process.stderr.write('\n')
  }
  throw new UsageError('Send the password as one line to standard input.')
}
