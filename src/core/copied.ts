import type { CopiedBlobs, FileRow } from '../backup/copy-blobs.ts'
import { lineProgress, type Progress, terminalProgress } from '../base/progress.ts'
import { realSystem } from '../base/system.ts'
import { print, printError } from './command.ts'

/** Shows long work: as a bar on a terminal, elsewhere as a line every ten seconds. */
export const showProgress = (): Progress =>
  process.stderr.isTTY
    ? terminalProgress(text => void process.stderr.write(text), realSystem)
    : lineProgress(printError, realSystem)

/** Tells what was copied, and resolves to the exit status: 1 when the original itself, by default a store, had lost files. */
export function printCopied(
  what: string,
  { files, bytes, copied, damaged }: CopiedBlobs,
  original: 'store' | 'backup' = 'store',
): number {
  printDamaged(damaged, original)
  print(`${what}: ${count(files, 'file')} with ${count(bytes, 'byte')}, ${copied} of them copied now.`)
  return damaged.length === 0 ? 0 : 1
}

export function printDamaged(damaged: readonly FileRow[], original: 'store' | 'backup'): void {
  for (const { context, entry, blob } of damaged)
    print(`damaged in the ${original}, and left out: the bytes of ${context}/${entry} (blob ${blob})`)
}

export const count = (number: number, noun: string, plural = `${noun}s`): string =>
  `${number} ${number === 1 ? noun : plural}`
