import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { once } from 'node:events'
import { selfSigned } from '../self-signed.ts'
import { fillIn, shipped } from '../shipped.ts'
import { haproxy, haproxyProgram } from './haproxy.ts'
import { nginx, nginxFrame, nginxProgram } from './nginx.ts'
import type { Peer } from './peer.ts'
import { startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

/** A web server in front of one service, as the file of that name in `deploy/` configures it. */
export interface Front {
  readonly peer: Peer
  readonly file: string
  /** It hands an answer on when the whole request has come in, and not before. */
  readonly waitsForBodies?: true
  /** The server's files in a folder of its own: the shipped one filled in, and what a distribution ships around it. */
  readonly files: (shipped: string, ports: FrontPorts, folder: string) => Readonly<Record<string, string>>
  readonly command: (folder: string) => { readonly command: string; readonly args: readonly string[] }
}

export interface FrontPorts {
  readonly service: number
  readonly tls: number
  /** Where it answers without TLS, if the configuration has anything there. */
  readonly plain: number
}

/** The name that the shipped configurations have. */
export const FRONT_NAME = 'content.example'

const apacheProgram = '/usr/sbin/apache2'
const caddyProgram = '/usr/bin/caddy'
/** What Debian enables with the server and with `a2enmod ssl`. */
const apacheModules = ['mpm_event', 'authz_core', 'socache_shmcb']
const service = '127.0.0.1:8080'

export const fronts: readonly Front[] = [
  {
    peer: nginx,
    file: 'nginx.conf',
    files: (text, ports, folder) => ({
      'stowage.conf': fillIn(text, {
        [service]: `127.0.0.1:${ports.service}`,
        // Administrators add HTTP/2; HTTP/1.1 is offered beside it.
        'listen 443 ssl;': `listen 127.0.0.1:${ports.tls} ssl http2;`,
        'listen 80;': `listen 127.0.0.1:${ports.plain};`,
        '/etc/ssl/content.example.pem': 'cert.pem',
        '/etc/ssl/content.example.key': 'key.pem',
      }),
      'nginx.conf': nginxFrame(folder),
    }),
    command: folder => ({ command: nginxProgram, args: ['-p', folder, '-e', 'error.log', '-c', 'nginx.conf'] }),
  },
  {
    peer: { name: 'Caddy', available: () => existsSync(caddyProgram) },
    file: 'Caddyfile',
    files: (text, ports, folder) => ({
      // It would ask an authority for a certificate by itself.
      Caddyfile: fillIn(text, {
        '{\n\tservers {': `{
	admin off
	http_port ${ports.plain}
	default_bind 127.0.0.1
	storage file_system ${folder}
	servers {`,
        [`${FRONT_NAME} {`]: `${FRONT_NAME}:${ports.tls} {\n\ttls cert.pem key.pem`,
        [service]: `127.0.0.1:${ports.service}`,
      }),
    }),
    command: () => ({ command: caddyProgram, args: ['run', '--config', 'Caddyfile', '--adapter', 'caddyfile'] }),
  },
  {
    peer: { name: 'Apache', available: () => existsSync(apacheProgram) },
    file: 'apache.conf',
    waitsForBodies: true,
    files: (text, ports, folder) => ({
      'httpd.conf': `
ServerRoot ${folder}
ServerName localhost
PidFile apache.pid
DefaultRuntimeDir ${folder}
ErrorLog error.log
Listen 127.0.0.1:${ports.tls}
Listen 127.0.0.1:${ports.plain}
${[...apacheModules, ...modulesToEnable(text)].map(name => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`).join('')}
${fillIn(text, {
  '<VirtualHost *:443>': `<VirtualHost *:${ports.tls}>`,
  '<VirtualHost *:80>': `<VirtualHost *:${ports.plain}>`,
  [service]: `127.0.0.1:${ports.service}`,
  '/etc/ssl/content.example.pem': 'cert.pem',
  '/etc/ssl/content.example.key': 'key.pem',
})}`,
    }),
    command: folder => ({ command: apacheProgram, args: ['-f', join(folder, 'httpd.conf'), '-DFOREGROUND'] }),
  },
  {
    peer: haproxy,
    file: 'haproxy.cfg',
    files: (text, ports) => ({
      'haproxy.cfg': fillIn(text, {
        'bind :443 ssl crt /etc/ssl/content.example.pem': `bind 127.0.0.1:${ports.tls} ssl crt both.pem`,
        'bind :80': `bind 127.0.0.1:${ports.plain}`,
        [service]: `127.0.0.1:${ports.service}`,
      }),
    }),
    command: () => ({ command: haproxyProgram, args: ['-db', '-f', 'haproxy.cfg'] }),
  },
]

/** What the head of `apache.conf` tells administrators to enable. */
const modulesToEnable = (text: string): readonly string[] => /a2enmod (.+)/.exec(text)?.[1]?.split(' ') ?? []

/** Starts it; resolves to the certificate to trust, which is for {@link FRONT_NAME}. @param change a fault in its configuration */
export async function startFront(
  t: Test,
  front: Front,
  ports: FrontPorts,
  change: (shipped: string) => string = text => text,
): Promise<{ readonly ca: string }> {
  const { key, cert } = selfSigned()
  const text = change(await shipped(front.file))
  await startInNewFolder(t, async folder => {
    const certificates = { 'key.pem': key, 'cert.pem': cert, 'both.pem': `${cert}${key}` }
    const files = { ...certificates, ...front.files(text, ports, folder) }
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(folder, name), content, { mode: /^(key|both)\.pem$/.test(name) ? 0o600 : 0o644 })
    }
    return startPeerProcess({
      ...front.command(folder),
      env: { HOME: folder },
      folder,
      ready: async () => {
        const socket = connect(ports.tls, '127.0.0.1')
        await once(socket, 'connect')
        socket.destroy()
        return true
      },
    })
  })
  return { ca: cert }
}
