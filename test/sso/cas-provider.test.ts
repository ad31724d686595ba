import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CasProvider } from '../../src/sso/cas/provider.ts'
import { FakeSystem } from '../support/fake-system.ts'

const providerAt = (loginUrl?: string): CasProvider => {
  const options = { name: 'cas', serverUrl: 'https://cas.example/', loginUrl, verifyTls: true, clockSkew: 0 }
  const rest = { serviceUrl: () => 'https://own.example/cas?a=1', maxBytes: 1000 }
  return new CasProvider({ ...options, ...rest } as ConstructorParameters<typeof CasProvider>[0], new FakeSystem())
}

test('the browser is redirected to the login of the CAS server with the address of the service (D9.1)', () => {
  const service = 'service=https%3A%2F%2Fown.example%2Fcas%3Fa%3D1'
  assert.deepEqual(providerAt().begin(), { kind: 'redirect', url: `https://cas.example/login?${service}` })
  const url = 'https://cas.example/in?gateway=true'
  assert.deepEqual(providerAt(url).begin(), { kind: 'redirect', url: `${url}&${service}` })
  assert.deepEqual(
    [undefined, url, `${url}x`].map(one => providerAt(one).isGateway),
    [false, true, false],
  )
})
