import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { ask, Problem } from './api.ts'

/** What adding a factor returns. */
export interface AddedFactor {
  readonly id: string
  /** Ten codes with the first factor; the service does not show them again. */
  readonly recoveryCodes?: readonly string[]
}

/** Whether this browser has passkeys. Pages without https have none. */
export const hasPasskeys = (): boolean => typeof PublicKeyCredential === 'function'

/** Loaded when a passkey is used. */
const library = () => import('@simplewebauthn/browser')

/** Asks the user for a passkey and adds it. @throws {Problem} `passkey-known`, `passkey-unused`, and those of the service */
export async function addPasskey(name: string): Promise<AddedFactor> {
  const optionsJSON = await ask<PublicKeyCredentialCreationOptionsJSON>('auth/passkeys/options', { method: 'POST' })
  const { startRegistration } = await library()
  const credential = await startRegistration({ optionsJSON }).catch((error: unknown) => {
    throw unused(error instanceof Error && error.name === 'InvalidStateError' ? 'passkey-known' : 'passkey-unused')
  })
  return await ask<AddedFactor>('auth/passkeys', { method: 'POST', json: { name, credential } })
}

/** Asks the user for one of their passkeys, for `POST /auth/fresh`. @throws {Problem} `passkey-unused`, and those of the service */
export async function provePasskey(): Promise<unknown> {
  const optionsJSON = await ask<PublicKeyCredentialRequestOptionsJSON>('auth/fresh/passkey-options', {
    method: 'POST',
  })
  const { startAuthentication } = await library()
  return await startAuthentication({ optionsJSON }).catch(() => {
    throw unused('passkey-unused')
  })
}

/** What the browser reports: the user has closed its dialog, the time is over, or the device lacks what is needed. */
const unused = (code: string): Problem => new Problem(0, { code })
