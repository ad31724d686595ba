import type { ExpectedResponse } from '../../../src/features/saml/response.ts'
import { buildResponse, edit, signResponse } from '../../support/saml-idp.ts'
import type { Signed, Signing } from '../../support/saml-idp.ts'

/** A response that must be refused; its title is the claim. */
export interface Attack {
  readonly title: string
  /** The check that it must fail on. */
  readonly check: string
  readonly xml: () => string | Uint8Array
  /** The form field, when it is not just the base64. */
  readonly field?: (encoded: string) => string
  readonly expected?: Partial<ExpectedResponse>
}

export const EVIL = 'evil@a.example'

type Replacement = readonly [from: string | RegExp, to: string | ((found: string) => string)]

const all = (xml: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((text, [from, to]) => edit(text, from, to), xml)

/** A provider that signs nonsense: edited first, then signed with its good key. */
export const issued = (
  title: string,
  check: string,
  replacements: readonly Replacement[],
  { signed = 'response', ...signing }: Signing & { readonly signed?: Signed } = {},
): Attack => ({ title, check, xml: () => signResponse(all(buildResponse(), replacements), signed, signing) })

/** Somebody on the way changes what was signed. */
export const tampered = (
  title: string,
  check: string,
  replacements: readonly Replacement[],
  { signed = 'both', ...signing }: Signing & { readonly signed?: Signed } = {},
): Attack => ({ title, check, xml: () => all(signResponse(buildResponse(), signed, signing), replacements) })
