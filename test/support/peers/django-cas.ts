import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ask } from '../http-client.ts'
import { clockVariables } from '../machine-clock.ts'
import type { Peer } from './peer.ts'
import { freePort, type Place, startInNewFolder, startPeerProcess, type Test } from './peer-process.ts'

// Debian's own: another Python on the path would not see its packages.
const python = '/usr/bin/python3'
const program = fileURLToPath(new URL('./django-cas.py', import.meta.url))

export const djangoCas: Peer = {
  name: 'django-cas-server',
  available: () => [python, '/usr/lib/python3/dist-packages/cas_server'].every(path => existsSync(path)),
}

export interface CasUser {
  readonly name: string
  readonly password: string
  readonly mail?: string
}

export interface DjangoCasOptions extends Place {
  readonly users: readonly CasUser[]
  /** Regular expressions, matched from the start of the service address; anything on loopback if absent. */
  readonly services?: readonly string[]
  /** What `cas:user` is: the name, or the e-mail address, and then users without one are turned away. */
  readonly identifies?: 'name' | 'mail'
}

export interface DjangoCas {
  readonly pid: number
  /** Ends in a slash; `login`, `validate`, `serviceValidate`, `p3/serviceValidate`, `samlValidate` and `logout` follow. */
  readonly url: string
  stop(): Promise<void>
}

/** A CAS server for the protocol versions 1, 2, 3 and SAML 1.1. It releases the attributes `email` and `uid`. */
export async function startDjangoCas(t: Test, options: DjangoCasOptions): Promise<DjangoCas> {
  const { host = '127.0.0.1', users, identifies = 'name' } = options
  const { services = [String.raw`http://(localhost|127\.0\.0\.1)[:/]`] } = options
  const port = await freePort(options.port)
  const url = `http://${host}:${port}/cas/`
  const cas = await startInNewFolder(t, async folder => {
    const people = users.map(({ name, password, mail }) => {
      const attributes = { uid: name, ...(mail === undefined ? {} : { email: mail }) }
      return [name, { password, attributes }]
    })
    const own = { port, services, user_field: identifies === 'mail' ? 'email' : '', users: Object.fromEntries(people) }
    await writeFile(join(folder, 'own.json'), JSON.stringify(own))
    return startPeerProcess({
      command: python,
      args: [program],
      env: clockVariables,
      folder,
      ready: async () => (await ask(`${url}login`)).text.includes('name="lt"'),
    })
  })
  return { pid: cas.pid, url, stop: () => cas.stop() }
}
