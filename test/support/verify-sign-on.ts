import assert from 'node:assert/strict'
import { Client } from '../../src/features/verify/client.ts'
import type { Outcome } from '../../src/features/verify/outcome.ts'
import { promises } from '../../src/features/verify/promises.ts'
import type { ProviderUser } from '../../src/features/verify/browser.ts'
import { Site } from '../../src/features/verify/site.ts'
import { verify } from '../../src/features/verify/verify.ts'
import { ADMIN_PASSWORD, type Service } from './service.ts'

/** What the promise of a round trip comes to for this user of the provider. */
export async function roundTripOf({ base }: Service, providerUser: ProviderUser | undefined): Promise<Outcome> {
  const client = new Client(new URL(base), {})
  assert.equal((await client.signIn('admin', ADMIN_PASSWORD)).status, 200)
  const found: Outcome[] = []
  const left = await verify(
    new Site(client, { providerUser }),
    promises.filter(({ id }) => id === 'sso-round-trip'),
    { onEach: ({ outcome }) => void found.push(outcome) },
  )
  client.close()
  assert.deepEqual(left, [])
  return found[0] ?? assert.fail('nothing was checked')
}
