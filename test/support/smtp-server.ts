import assert from 'node:assert/strict'
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from './temporary-folder.ts'
import { until } from './waiting.ts'

interface Test {
  after(work: () => Promise<void>): void
}

export interface Certificate {
  readonly key: string
  readonly cert: string
  /** Where the certificate lies, for `NODE_EXTRA_CA_CERTS`. */
  readonly file: string
}

export interface SmtpBehaviour {
  /** Offers STARTTLS. */
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Asks for this name and password. */
  readonly user?: { readonly name: string; readonly password: string }
  /** Recipients that are refused permanently (550). */
  readonly refused?: readonly string[]
  /** Recipients that are refused temporarily (450). */
  readonly busy?: readonly string[]
}

/** A mail as received, and as a reader would see it. */
export interface Received {
  readonly from: string
  readonly to: readonly string[]
  readonly secure: boolean
  readonly source: string
}

export interface SmtpServer {
  readonly port: number
  /** The settings of a service that sends its mails here. */
  readonly settings: Readonly<Record<string, string>>
  readonly mails: readonly Received[]
  /** Resolves to the mail with this number to the address when it has arrived. */
  take(address: string, number?: number): Promise<Received>
}

export async function startSmtpServer(t: Test, behaviour: SmtpBehaviour = {}): Promise<SmtpServer> {
  const child = fork(fileURLToPath(new URL('smtp-process.ts', import.meta.url)), [JSON.stringify(behaviour)])
  const exited = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const mails: Received[] = []
  child.on('message', mail => mails.push(mail as Received))
  const take = (address: string, number = 1): Promise<Received> =>
    until(
      () => mails.filter(({ to }) => to[0] === address)[number - 1] as Received,
      mail => mail !== undefined,
    )
  const settings = {
    'service.smtp.host': '127.0.0.1',
    'service.smtp.port': String(port),
    'service.smtp.security': 'off',
    'service.smtp.from': 'store@example.org',
  }
  return { port, settings, mails, take }
}

/** A self-signed certificate for loopback. */
export async function selfSigned(): Promise<Certificate> {
  const folder = await temporaryFolder()
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  await promisify(execFile)('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', file])
  return { key: await readFile(key, 'utf8'), cert: await readFile(file, 'utf8'), file }
}

/** The part of a mail with the type, decoded. */
export function partOf({ source }: Received, type: 'text/plain' | 'text/html'): string {
  const boundary = /boundary="([^"]+)"/.exec(source)?.[1]
  assert.ok(boundary !== undefined, source)
  for (const part of source.split(`--${boundary}`)) {
    const [head = '', ...body] = part.split('\r\n\r\n')
    if (!head.includes(`Content-Type: ${type}`)) continue
    return decode(body.join('\r\n\r\n'), /Content-Transfer-Encoding: (\S+)/i.exec(head)?.[1])
  }
  assert.fail(`no ${type} in ${source}`)
}

function decode(text: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return text
  const bytes = text
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** The link of a reset mail, and the token in it. */
export function linkOf(mail: Received): { readonly link: string; readonly token: string } {
  const link = /^https?:\S+$/m.exec(partOf(mail, 'text/plain'))?.[0] ?? ''
  return { link, token: new URL(link).searchParams.get('token') ?? '' }
}
