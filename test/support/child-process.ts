import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface Child {
  readonly pid: number
  /** Lines of standard output so far. */
  readonly lines: readonly string[]
  /** Ends the process like a crash, without cleanup. */
  kill(): Promise<void>
}

/** Runs `code` as a module in its own process. Resolves when it has printed the line `ready`. */
export async function startChild(code: string): Promise<Child> {
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const lines: string[] = []
  const { stdout, pid } = child
  if (!stdout || pid === undefined) throw new Error('the child did not start')
  const reader = createInterface(stdout)
  await new Promise<void>((resolve, reject) => {
    reader.on('line', line => {
      lines.push(line)
      if (line === 'ready') resolve()
    })
    reader.on('close', () => reject(new Error(`the child ended early: ${lines.join(' | ')}`)))
  })
  return {
    pid,
    lines,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** The address of a source file for the code of a child. */
export function sourceUrl(path: string): string {
  return new URL(`../../src/${path}`, import.meta.url).href
}
