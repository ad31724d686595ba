import { existsSync } from 'node:fs'
import { chmod, chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Peer } from './peer.ts'
import { freePort, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'
import { postgresUser, urlOf } from './postgres.ts'

const program = '/usr/sbin/pgbouncer'

export const pgbouncer: Peer = { name: 'PgBouncer', available: () => existsSync(program) }

/** PgBouncer as its package configures it, but for the place, in front of the server of these addresses. @returns the address through it */
export async function startPgBouncer(t: Test, url: string, mode: 'session' | 'transaction'): Promise<string> {
  const port = await freePort()
  const { port: serverPort, username, password, pathname } = new URL(url)
  const own = urlOf({ port }, pathname.slice(1))
  await startInNewFolder(t, async folder => {
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${serverPort}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = scram-sha-256',
      'auth_file = users.txt',
      `pool_mode = ${mode}`,
    ]
    await writeFile(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
    await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`)
    const user = postgresUser()
    if (user) await chown(folder, user.uid, user.gid)
    await chmod(folder, 0o755)
    return await startPeerProcess({
      command: program,
      // It refuses to run as root.
      args: [...(user ? ['--user', 'postgres'] : []), 'pgbouncer.ini'],
      env: {},
      folder,
      ready: () => answers(own),
    })
  })
  return own
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.end()
  return true
}
