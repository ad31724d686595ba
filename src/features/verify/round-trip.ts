import { dct } from '../../graph/vocabulary.ts'
import { type Client, COOKIE, tell } from './client.ts'
import { broken, kept, unchecked } from './outcome.ts'
import type { Promised } from './promise.ts'
import { requireOk, type Site } from './site.ts'
import { Browser } from './browser.ts'

interface Identity {
  readonly id: string
  readonly user: string
  readonly homecontext?: string
}

/** A sign-on at a provider whose user and password are given. */
export const roundTrip: Promised = {
  id: 'sso-round-trip',
  sentence: 'A user of the identity provider signs in, and has a session here.',
  page: 'how-to/sso-recipes.md',
  check: async site => {
    const { providerUser } = site
    if (!providerUser)
      return unchecked('name a user of the provider with --sign-on, --provider-user and --provider-password-file')
    const client = site.guest()
    // By the clock of the service.
    const began = await createdAt(site.admin, '_contexts', await site.workshop.context())
    const browser = new Browser(client, providerUser)
    const { url, answer } = await browser.signOn()
    client.session = browser.cookie(COOKIE)
    const identity = requireOk(await client.ask('auth/user'), 'the current user').json<Identity>()
    if (identity.id === '_guest') {
      const where = url.origin + url.pathname
      return broken(
        `it ends at ${where} with ${tell(answer)}`,
        'Look at Administration, Single sign-on, for the reason.',
      )
    }
    await forget(site, identity, began)
    await client.ask('auth/logout')
    return kept(`${providerUser.name} is ${identity.user}`)
  },
}

/** The service may have created the user, and a context with them. */
async function forget({ admin, workshop }: Site, { id, homecontext }: Identity, began: number): Promise<void> {
  if ((await createdAt(admin, '_principals', id)) < began) return
  workshop.remember(`_principals/entry/${id}`)
  if (homecontext !== undefined && (await createdAt(admin, '_contexts', homecontext)) >= began)
    workshop.remember(`_contexts/entry/${homecontext}`)
}

async function createdAt(admin: Client, context: string, id: string): Promise<number> {
  const path = `${context}/entry/${id}`
  const { info } = requireOk(await admin.ask(path), `the entry ${path}`).json<{
    readonly info: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<{ readonly value: string }>>>>>
  }>()
  return Date.parse(info[admin.address(path)]?.[dct.created]?.[0]?.value ?? '')
}
