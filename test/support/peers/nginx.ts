import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { selfSigned } from '../self-signed.ts'
import { fillIn, shipped } from '../shipped.ts'
import type { Peer } from './peer.ts'
import { freePort, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

export const nginxProgram = '/usr/sbin/nginx'

export const nginx: Peer = { name: 'nginx', available: () => existsSync(nginxProgram) }

export interface NginxOptions {
  /** Where the nodes listen, whether or not they are up yet. */
  readonly nodes: readonly number[]
  /** Where clients come without TLS, beside the address that the configuration has. */
  readonly port: number
}

export interface Nginx {
  /** By TLS, and the certificate to trust there. */
  readonly tls: { readonly url: string; readonly ca: string }
  /** Where the configuration answers without TLS. */
  readonly plain: string
  /** Sends nothing new to this node; what is under way goes on. */
  withhold(node: number): Promise<void>
  /** Sends to all nodes again. */
  sendToAll(): Promise<void>
}

/** The shipped `deploy/nginx-nodes.conf` with its placeholders filled in. */
export async function startNginx(t: Test, { nodes, port }: NginxOptions): Promise<Nginx> {
  const tlsPort = await freePort()
  const plainPort = await freePort()
  const { key, cert } = selfSigned()
  const text = await shipped('nginx-nodes.conf')
  const site = (withheld?: number): string => {
    const servers = nodes.map((node, index) => {
      const down = index === withheld ? ' down' : ''
      return [`server 10.0.0.1${index + 1}:8080`, `server 127.0.0.1:${node}${down}`] as const
    })
    return fillIn(text, {
      ...Object.fromEntries(servers),
      // All clients of a test share an address.
      'rate=50r/s': 'rate=100000r/s',
      'limit_conn stowage_connections 200': 'limit_conn stowage_connections 10000',
      'listen 443 ssl;': `listen 127.0.0.1:${tlsPort} ssl; listen 127.0.0.1:${port};`,
      'listen 80;': `listen 127.0.0.1:${plainPort};`,
      '/etc/ssl/content.example.pem': 'cert.pem',
      '/etc/ssl/content.example.key': 'key.pem',
    })
  }
  const peer = await startInNewFolder(t, async folder => {
    await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 })
    await writeFile(join(folder, 'cert.pem'), cert)
    await writeFile(join(folder, 'stowage.conf'), site())
    await writeFile(join(folder, 'nginx.conf'), nginxFrame(folder))
    return startPeerProcess({
      command: nginxProgram,
      args: ['-p', folder, '-e', 'error.log', '-c', 'nginx.conf'],
      env: {},
      folder,
      ready: async () => (await fetch(`http://127.0.0.1:${port}/`)).status > 0,
    })
  })
  const reload = async (withheld?: number): Promise<void> => {
    const before = await workersStarted(peer.folder)
    await writeFile(join(peer.folder, 'stowage.conf'), site(withheld))
    process.kill(Number(await readFile(join(peer.folder, 'nginx.pid'), 'utf8')), 'SIGHUP')
    while ((await workersStarted(peer.folder)) < before + 2 * WORKERS) await new Promise(next => setTimeout(next, 10))
  }
  return {
    tls: { url: `https://127.0.0.1:${tlsPort}/`, ca: cert },
    plain: `http://127.0.0.1:${plainPort}/`,
    withhold: reload,
    sendToAll: () => reload(),
  }
}

const WORKERS = 2

/** New workers take requests, and the old ones take no more. */
async function workersStarted(folder: string): Promise<number> {
  const log = await readFile(join(folder, 'error.log'), 'utf8')
  return log.match(/start worker process \d+|gracefully shutting down/g)?.length ?? 0
}

/** What a distribution ships around a site, in a folder that is anybody's. */
export const nginxFrame = (folder: string): string => `
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes ${WORKERS};
pid nginx.pid;
error_log error.log notice;
events { worker_connections 8192; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(kind => `${kind}_temp_path ${join(folder, kind)};`).join(' ')}
  include stowage.conf;
}
`
