import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { clockVariables } from './machine-clock.ts'
import { program } from './service.ts'

export interface Run {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What it takes to reach the server that a whole run keeps its files on (`BLOBS=s3`). */
const storeEnvironment = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('AWS_')))

/** Runs `stowage` with these arguments to its end, in a folder and with little environment. */
export async function stowage(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  {
    tracer = [],
    input,
    ...user
  }: {
    readonly uid?: number
    readonly gid?: number
    readonly tracer?: readonly string[]
    /** What the command reads from standard input. */
    readonly input?: string
  } = {},
): Promise<Run> {
  const [command = '', ...words] = [...tracer, process.execPath, program, ...args]
  const child = spawn(command, words, {
    cwd,
    env: { PATH: process.env['PATH'], ...clockVariables, ...storeEnvironment, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...user,
  })
  let [stdout, stderr] = ['', '']
  child.stdin?.end(input)
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}
