import type { CopiedBlobs } from '../backup/copy-blobs.ts'
import type { Source } from '../backup/store-copy.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { print } from './command.ts'

const INTERVAL: Milliseconds = 10_000

/** Tells how much is done. */
type Say = (done: number, what: string) => void

/** Tells it every ten seconds at most. */
export function progress(system: Pick<System, 'monotonic'>, tell: (line: string) => void): Say {
  let told = system.monotonic()
  return (done, what) => {
    if (system.monotonic() - told < INTERVAL) return
    told = system.monotonic()
    tell(`${done} ${what} …`)
  }
}

/** Counts its calls. */
export function counter(what: string, say: Say): () => void {
  let done = 0
  return () => say(++done, what)
}

/** The source, which tells how far it has been read. A row of `files` is read with its bytes. */
export function withProgress(source: Source, say: Say): Source {
  return {
    schema: source.schema,
    blobs: source.blobs,
    async *rows(table) {
      const count = counter(`rows of ${table.name}`, say)
      for await (const row of source.rows(table)) {
        yield row
        count()
      }
    },
  }
}

/** Tells what was copied, and resolves to the exit status: 1 when the original itself had lost files. */
export function printCopied(what: string, { files, bytes, copied, damaged }: CopiedBlobs): number {
  for (const { context, entry, blob } of damaged) {
    print(`damaged in the original, and not copied: the bytes of ${context}/${entry} (blob ${blob})`)
  }
  print(`${what}: ${count(files, 'file')} with ${count(bytes, 'byte')}, ${copied} of them copied now.`)
  return damaged.length === 0 ? 0 : 1
}

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
