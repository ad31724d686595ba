import assert from 'node:assert/strict'
import type { Answer, Visitor } from './http-client.ts'
import { freePort } from './peers/peer-process.ts'
import { type Algorithm, SoftwareAuthenticator } from './software-authenticator.ts'

/** Settings of a service that browsers offer passkeys for: its address has a host name. */
export async function passkeySettings(): Promise<Readonly<Record<string, string>>> {
  const port = String(await freePort())
  return { 'service.http.port': port, 'service.baseurl.folder': `http://localhost:${port}/` }
}

interface Options {
  readonly challenge: string
  readonly rpId: string
  readonly rp: { readonly id: string }
  readonly user: { readonly id: string; readonly name: string }
  readonly allowCredentials?: ReadonlyArray<{ readonly id: string }>
  readonly excludeCredentials: ReadonlyArray<{ readonly id: string }>
}

/** Requests options; `path` is below `auth/`. */
export async function optionsAt(visitor: Visitor, path: string, cookie?: string): Promise<Options> {
  const headers = cookie === undefined ? {} : { cookie }
  const answer = await visitor.ask(`auth/${path}`, { method: 'POST', headers })
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Options>()
}

export const newAuthenticator = (visitor: Visitor, algorithm?: Algorithm): SoftwareAuthenticator =>
  new SoftwareAuthenticator(new URL(visitor.base).origin, algorithm ? { algorithm } : {})

export const sendRegistration = (visitor: Visitor, credential: unknown, name = 'Key'): Promise<Answer> =>
  visitor.post('auth/passkeys', { name, credential })

/** Adds a passkey to the signed-in user. */
export async function addPasskey(visitor: Visitor, authenticator = newAuthenticator(visitor), name = 'Key') {
  const options = await optionsAt(visitor, 'passkeys/options')
  const added = await sendRegistration(visitor, authenticator.create(options), name)
  assert.equal(added.status, 201, added.text)
  const { id, recoveryCodes = [] } = added.json<{ id: string; recoveryCodes?: string[] }>()
  return { authenticator, id, recoveryCodes }
}

/** Signs in with the passkey alone. */
export async function signInWithPasskey(visitor: Visitor, authenticator: SoftwareAuthenticator): Promise<Answer> {
  const passkey = authenticator.get(await optionsAt(visitor, 'passkey/options'))
  return await visitor.post('auth/passkey', { passkey })
}
