import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Run } from './cli.ts'
import { sourceUrl } from './child-process.ts'
import type { Test } from './peers/peer-process.ts'

/** Reads arguments as lines of JSON, runs the command that they name, and prints what it said as a line of JSON. */
const loop = `
import { createInterface } from 'node:readline'
import { main } from ${JSON.stringify(sourceUrl('commands/main.ts'))}
const write = process.stdout.write.bind(process.stdout)
for await (const line of createInterface({ input: process.stdin })) {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) process[name].write = text => ((said[name] += text), true)
  const status = await main(JSON.parse(line)).catch(error => String(error.stack))
  write(JSON.stringify({ status, ...said }) + '\\n')
}
`

/** One process that runs many commands one after the other, which is faster than a process for each. Its settings come from variables. */
export async function newCommandProcess(
  t: Test,
  { folder, settings }: { readonly folder: string; readonly settings: Readonly<Record<string, string>> },
): Promise<(args: readonly string[]) => Promise<Run>> {
  const variables = Object.entries(settings).map(([key, value]) => [key.toUpperCase().replaceAll(/[.-]/g, '_'), value])
  const child = spawn(process.execPath, ['--input-type=module', '-e', loop], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...(Object.fromEntries(variables) as Record<string, string>) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async args => {
    child.stdin.write(`${JSON.stringify(args)}\n`)
    const { done, value } = await lines.next()
    if (done === true) throw new Error(`the process ended with ${args.join(' ')}`)
    return JSON.parse(value) as Run
  }
}
