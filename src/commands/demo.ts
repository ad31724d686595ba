import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../base/log.ts'
import { realSystem } from '../base/system.ts'
import { commit, version } from '../core/version.ts'
import { loadSettings } from '../config/load.ts'
import { DEMO_PASSWORD, demoUsers, fillStore } from '../demo/fill-store.ts'
import { type Command, parseArguments, print } from '../core/command.ts'
import { stopSignal } from './serve.ts'

const DEFAULT_PORT = '8080'

export const demo: Command = {
  name: 'demo',
  usage: '[--port PORT]',
  summary:
    'Runs the service on this machine with users, spaces and files to try, until Ctrl-C. Everything is in a temporary folder, and deleted then.',
  async run(args) {
    const { port = DEFAULT_PORT } = parseArguments(args, { port: { type: 'string' } }, false).values
    const folder = await mkdtemp(join(tmpdir(), 'stowage-demo-'))
    try {
      return await run(port, folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

async function run(port: string, folder: string): Promise<number> {
  // Files and variables with settings are for the real service of this machine.
  const sources = {
    file: undefined,
    environment: {},
    overrides: [
      `service.data.folder=${join(folder, 'data')}`,
      'service.http.host=127.0.0.1',
      `service.http.port=${port}`,
      'service.data.quota=on',
      'service.repository.provenance=on',
    ],
  }
  const { settings } = loadSettings(sources)
  const { createServer } = await import('../assembly/server.ts')
  const stopped = stopSignal()
  const server = await createServer(settings, {
    system: realSystem,
    log: createLog('error', { write: writeErrors }),
    adminPassword: DEMO_PASSWORD,
    tokenKey: undefined,
    version,
    commit,
    sources,
    reread: () => loadSettings(sources),
  })
  try {
    const base = await server.listen()
    print(welcome(base, await fillStore(base)))
    await stopped
  } finally {
    await server.close()
  }
  return 0
}

/** The audit log writes at every level; here it would hide the addresses. */
function writeErrors(line: string): void {
  if (/"level":"(?:error|fatal)"/.test(line)) process.stderr.write(line)
}

const welcome = (base: string, { link, dataset }: Awaited<ReturnType<typeof fillStore>>): string =>
  [
    `Open ${base} and sign in with the password ${DEMO_PASSWORD} as`,
    ...demoUsers.map(({ name, role }) => `  ${name.padEnd(6)} ${role}`),
    `  ${'admin'.padEnd(6)} administers users, quotas and settings`,
    `A visitor without an account opens ${link}`,
    `Anybody may read the metadata at ${dataset}`,
    'Ctrl-C ends the demonstration and deletes everything in it.',
  ].join('\n')
