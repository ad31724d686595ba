import { ask } from './api.ts'

export interface Factor {
  readonly id: string
  readonly kind: 'totp' | 'passkey'
  readonly name: string
  readonly created: string
  readonly lastUsed?: string
}

export interface Factors {
  readonly factors: readonly Factor[]
  /** How many are left. */
  readonly recoveryCodes: number
  /** The kinds that the service offers. */
  readonly canAdd: ReadonlyArray<Factor['kind']>
}

/** An authenticator app that is to be added, with its secret in base 32. */
export interface Enrolment {
  readonly id: string
  readonly secret: string
  /** What the app reads from a QR code. */
  readonly uri: string
}

const PATH = 'auth/factors'
const factor = (id: string): string => `${PATH}/${encodeURIComponent(id)}`

/** The user's own factors, or with `name` those of that user. @throws {Problem} */
export const loadFactors = (signal?: AbortSignal, name?: string): Promise<Factors> =>
  ask(name === undefined ? PATH : `${PATH}?${new URLSearchParams({ user: name }).toString()}`, signal ? { signal } : {})

/** @throws {Problem} */
export const enrolApp = (name: string): Promise<Enrolment> =>
  ask(PATH, { method: 'POST', json: { kind: 'totp', name } })

/** @returns the recovery codes that came with the first factor @throws {Problem} */
export const confirmApp = async (id: string, code: string): Promise<readonly string[] | undefined> =>
  (
    await ask<{ readonly recoveryCodes?: readonly string[] }>(`${factor(id)}/confirm`, {
      method: 'POST',
      json: { code },
    })
  ).recoveryCodes

/** @throws {Problem} */
export const renameFactor = (id: string, name: string): Promise<undefined> =>
  ask(factor(id), { method: 'PATCH', json: { name } })

/** @throws {Problem} */
export const removeFactor = (id: string): Promise<undefined> => ask(factor(id), { method: 'DELETE' })

/** Removes all factors of a user, for administrators. @throws {Problem} */
export const removeFactorsOf = (name: string): Promise<unknown> =>
  ask(`${PATH}?${new URLSearchParams({ user: name }).toString()}`, { method: 'DELETE' })

/** @returns ten new recovery codes @throws {Problem} */
export const renewRecoveryCodes = async (): Promise<readonly string[]> =>
  (await ask<{ readonly recoveryCodes: readonly string[] }>('auth/recovery-codes', { method: 'POST' })).recoveryCodes
