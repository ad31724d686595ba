import assert from 'node:assert/strict'
import { hotp, stepAt } from '../../src/features/factors/totp.ts'
import type { System } from '../../src/base/system.ts'
import type { Answer, Visitor } from './http-client.ts'

/** An authenticator app with one secret. */
export class App {
  readonly id: string
  readonly #secret: Uint8Array
  readonly #system: Pick<System, 'now'>

  constructor(id: string, secret: string, system: Pick<System, 'now'>) {
    this.id = id
    this.#secret = fromBase32(secret)
    this.#system = system
  }

  /** The code that the app shows, or that of a step before or after. */
  code(distance = 0): string {
    return hotp(this.#secret, stepAt(this.#system.now()) + distance)
  }

  /** A code that is none of the three that are accepted. */
  wrongCode(): string {
    const right = [-1, 0, 1].map(distance => this.code(distance))
    return ['000000', '111111', '222222', '333333'].find(code => !right.includes(code)) ?? ''
  }
}

function fromBase32(text: string): Uint8Array {
  const bits = [...text]
    .map(digit => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}

export async function enrol(visitor: Visitor, system: Pick<System, 'now'>, name = 'Phone'): Promise<App> {
  const begun = await visitor.post('auth/factors', { kind: 'totp', name })
  assert.equal(begun.status, 201, begun.text)
  const { id, secret } = begun.json<{ id: string; secret: string }>()
  return new App(id, secret, system)
}

/** Adds an authenticator app, and lets the code with which it was confirmed pass. */
export async function addApp(
  visitor: Visitor,
  system: Pick<System, 'now'> & { pass(duration: number): void },
  name = 'Phone',
): Promise<{ readonly app: App; readonly recoveryCodes: readonly string[] }> {
  const app = await enrol(visitor, system, name)
  const confirmed = await visitor.post(`auth/factors/${app.id}/confirm`, { code: app.code() })
  assert.equal(confirmed.status, 200, confirmed.text)
  system.pass(30_000)
  return { app, recoveryCodes: confirmed.json<{ recoveryCodes?: string[] }>().recoveryCodes ?? [] }
}

/** The cookie of a sign-in that waits for its second factor; the empty text without one. */
export const pendingCookie = (answer: Answer): string =>
  /^((?:__Host-)?stowage_2fa=[^;]+)/.exec(
    answer.headers['set-cookie']?.find(line => line.includes('stowage_2fa=')) ?? '',
  )?.[1] ?? ''

/** Sends the second step with the cookie of the first. */
export const prove = (visitor: Visitor, cookie: string, json: unknown): Promise<Answer> =>
  visitor.ask('auth/factor', { method: 'POST', json, headers: { cookie } })

/** Both steps. */
export async function signInWith(
  visitor: Visitor,
  user: { name: string; password: string },
  code: string,
): Promise<Answer> {
  const first = await visitor.signIn(user.name, user.password)
  assert.equal(first.status, 401, first.text)
  return await prove(visitor, pendingCookie(first), { code })
}
