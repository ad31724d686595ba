import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { freePort, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

export const haproxyProgram = '/usr/sbin/haproxy'

export const haproxy: Peer = { name: 'HAProxy', available: () => existsSync(haproxyProgram) }

/** HAProxy in front of the service at this port, with one connection that all clients share. @returns its address */
export async function startHaproxy(t: Test, servicePort: number): Promise<string> {
  const port = await freePort()
  await startInNewFolder(t, async folder => {
    await writeFile(
      join(folder, 'haproxy.cfg'),
      `
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend clients
  bind 127.0.0.1:${port}
  default_backend service
backend service
  server one 127.0.0.1:${servicePort} maxconn 8
`,
    )
    return startPeerProcess({
      command: haproxyProgram,
      args: ['-db', '-f', 'haproxy.cfg'],
      env: {},
      folder,
      ready: async () => (await fetch(`http://127.0.0.1:${port}/management/status`)).status === 200,
    })
  })
  return `http://127.0.0.1:${port}/`
}
