import { stepsOf } from '../support/steps.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describePaths, isDescribed, templateOf } from '../../src/http/interface/document.ts'
import { allRoutes } from '../../src/assembly/routes.ts'
import { after } from '../support/after.ts'
import { passkeySettings } from '../support/passkeys.ts'
import { startInProcess } from '../support/service.ts'

const everything = {
  ...(await passkeySettings()),
  'service.data.quota': 'on',
  'service.auth.http-basic': 'on',
  'service.auth.cas': 'on',
  'service.auth.cas.server.url': 'https://cas.example.org/cas',
  'service.auth.password-reset': 'on',
  'service.smtp.host': 'mail.example.org',
  'service.smtp.from': 'stowage@example.org',
  'service.auth.oidc': 'on',
  'service.auth.oidc.idps.1': 'city',
  'service.auth.oidc.idp.city.issuer': 'https://login.example.org',
  'service.auth.oidc.idp.city.client-id': 'stowage',
  'service.auth.oidc.idp.city.client-secret': 'for-the-description',
  'service.auth.saml': 'new',
  'service.auth.saml.assertion-consumer-service.url': 'https://stowage.example.org/store/auth/saml',
  'service.auth.saml.idps.1': 'campus',
  'service.auth.saml.idp.campus.relying-party-id': 'https://stowage.example.org',
  'service.auth.saml.idp.campus.metadata.url': 'https://idp.example.org/metadata',
}

interface Document {
  readonly openapi: string
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const service = await startInProcess({ after }, { settings: everything })
const read = async (): Promise<Document> => (await service.visitor().get('openapi.json')).json<Document>()

test('the description is made once', async () => {
  const first = await stepsOf(() => service.visitor().get('openapi.json'))
  const next = await stepsOf(() => service.visitor().get('openapi.json'))
  assert.ok(next < first / 2, `${next} of ${first}`)
})

test('the description is an OpenAPI 3.1 document (D18.3)', async () => {
  const document = await read()
  assert.equal(document.openapi, '3.1.0')
  assert.equal(`${document.servers[0]?.url}/`, service.base)
  const { valid, errors } = await new Validator().validate(structuredClone(document) as never)
  assert.ok(valid, JSON.stringify(errors))
})

test('with everything switched on it describes each operation, and only what is there', async () => {
  const { paths } = await read()
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  const known = allRoutes
    .filter(isDescribed)
    .filter(({ parameter }) => parameter === undefined)
    .map(({ method, url }) => `${method} ${templateOf(url)}`)
  assert.deepEqual(described.toSorted(), known.toSorted())
})

test('what a query parameter selects is described with the operation of its address', async () => {
  const { paths } = describePaths(allRoutes)
  const { operationId, parameters, responses } = (paths['/{context}']?.['get'] ?? assert.fail()) as {
    readonly operationId: string
    readonly parameters: ReadonlyArray<{ readonly name?: string; readonly required?: boolean }>
    readonly responses: Readonly<Record<string, { readonly content?: object }>>
  }
  assert.equal(operationId, 'readContext')
  assert.deepEqual(
    parameters.filter(({ name }) => name === 'syndication' || name === 'entryname').map(({ required }) => required),
    [false, false],
  )
  const types = Object.keys(responses['200']?.content ?? {})
  assert.deepEqual(types, ['application/json', 'application/rss+xml', 'application/atom+xml'])
})

test('what is switched off is not described', async t => {
  const plain = await startInProcess(t)
  const { paths } = (await plain.visitor().get('openapi.json')).json<Document>()
  for (const path of ['/auth/basic', '/auth/cas', '/auth/saml', '/auth/oidc', '/auth/pwreset'])
    assert.equal(paths[path], undefined)
})
