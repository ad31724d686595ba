import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { ServiceError, StartupError } from '../../src/base/errors.ts'
import { parseDuration, parseSize } from '../../src/config/quantities.ts'
import { parseJson } from '../../src/base/json.ts'
import { loadSettings } from '../../src/config/load.ts'
import { bytesOf, readArchive, surveyArchive } from '../../src/features/archives/archive-reader.ts'
import { batchName, type IriForms, MANIFEST, SUMMARY } from '../../src/features/archives/format.ts'
import { parseFilters, parseQuery } from '../../src/features/search/query.ts'
import { absoluteGraph, toAbsolute, toRelative } from '../../src/graph/graph.ts'
import { GraphReader } from '../../src/graph/graph-reader.ts'
import { syntaxes } from '../../src/graph/syntaxes.ts'
import { basicCredentials } from '../../src/http/caller.ts'
import { ClientAddresses } from '../../src/http/protocol/client-address.ts'
import { RequestCookies } from '../../src/http/protocol/cookies.ts'
import { isRangeCurrent, isUnchanged, requirePreconditions } from '../../src/http/representations.ts'
import { Parameters } from '../../src/http/protocol/parameters.ts'
import { acceptLanguage } from '../../src/http/protocol/negotiate.ts'
import { parseRange } from '../../src/http/download.ts'
import { verifyReply } from '../../src/features/cas/reply.ts'
import { RedirectTargets } from '../../src/features/sso/redirect-targets.ts'
import { MetadataRefused, parseMetadata } from '../../src/features/saml/metadata.ts'
import { Verifier } from '../../src/features/saml/provider.ts'
import { XmlRefused } from '../../src/features/sso/xml.ts'
import type { ByteRange } from '../../src/stores/blob-store.ts'
import { archiveOf, membersOf } from '../support/archives.ts'
import { serviceResponse } from '../support/fake-cas.ts'
import { buildMetadata, buildResponse, encode, expected, NOW, signResponse } from '../support/saml-idp.ts'
import * as seeds from './fuzz-seeds.ts'

/** Something that reads what strangers send; a refusal is an answer, anything else that it throws is a fault. */
export interface Target {
  readonly name: string
  readonly corpus: readonly Buffer[]
  readonly most: number
  readonly run: (bytes: Buffer) => unknown
}

export const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError ||
  error instanceof StartupError ||
  error instanceof XmlRefused ||
  error instanceof MetadataRefused

const HEADER = 16_384
const BODY = 200_000

const text = (read: (text: string) => unknown) => (bytes: Buffer) => read(bytes.toString('utf8'))
/** As Node hands headers on. */
const header = (read: (text: string) => unknown) => (bytes: Buffer) => read(bytes.toString('latin1'))
const buffers = (texts: readonly string[]): Buffer[] => texts.map(text => Buffer.from(text))

/**
 * Every parser of foreign bytes, called as the service calls it.
 * @param archive of a context, with entries and a file
 */
export async function openParsers(
  archive: Buffer,
): Promise<{ readonly targets: readonly Target[]; readonly close: () => Promise<void> }> {
  const [graphs, verifier] = [new GraphReader(), new Verifier()]
  const state = { etag: '"abc"', modified: NOW }
  const proxies = ['10.0.0.0/8', 'fd00::/8']
  const byXForwardedFor = new ClientAddresses(proxies)
  const targets = new RedirectTargets('store.example', ['app.example'])
  const cas = { serviceUrl: 'https://store.example/auth/cas', now: NOW, clockSkew: 60_000 }
  const small = (name: string, corpus: readonly string[], run: Target['run'], most = HEADER): Target => ({
    name,
    corpus: buffers(corpus),
    most,
    run,
  })
  return {
    targets: [
      small(
        'Cookie',
        seeds.cookies,
        header(value => {
          const { authTokens, deviceToken } = RequestCookies.parse(value)
          return [authTokens, deviceToken]
        }),
      ),
      small('Authorization', seeds.authorizations, header(basicCredentials)),
      small('Accept-Language', seeds.languages, header(acceptLanguage)),
      small(
        'Range',
        seeds.ranges,
        header(value => parseRange(value, 1000)),
      ),
      small(
        'If-…',
        seeds.conditions,
        header(value => {
          isRangeCurrent(value, state)
          isUnchanged({ 'if-none-match': value, 'if-modified-since': value }, state)
          requirePreconditions({ 'if-unmodified-since': value }, state)
          requirePreconditions({ 'if-match': value }, state)
        }),
      ),
      small(
        'X-Forwarded-For',
        seeds.forwarded,
        header(value => byXForwardedFor.of('10.0.0.1', { 'x-forwarded-for': value })),
      ),
      small(
        'query or form',
        seeds.queries,
        text(value => Parameters.parse(value, 'invalid-query')),
        32_768,
      ),
      small(
        'redirect target',
        seeds.targets,
        text(value => targets.require(value, 'successurl')),
      ),
      small('search query', seeds.searches, text(parseQuery)),
      small('search filters', seeds.searches, text(parseFilters)),
      small('size', seeds.sizes, text(parseSize)),
      small('duration', seeds.durations, text(parseDuration)),
      small(
        'properties',
        seeds.properties,
        text(value => loadSettings({ file: { path: 'f', text: value }, overrides: [] })),
        BODY,
      ),
      small('JSON', seeds.jsons, text(parseJson), BODY),
      ...syntaxes.map(syntax =>
        small(
          `RDF ${syntax.name}`,
          seeds.graphs[syntax.name] ?? [],
          text(value => graphs.read(syntax, value, 'http://a.example/', { caller: 'test' })),
          BODY,
        ),
      ),
      small(
        'SAMLResponse',
        [signResponse(buildResponse()), signResponse(buildResponse(), 'assertion')],
        bytes => verifier.verify(encode(bytes), expected()),
        BODY,
      ),
      small(
        'SAMLResponse in base64',
        [encode(signResponse(buildResponse()))],
        text(value => verifier.verify(value, expected())),
        BODY,
      ),
      small(
        'SAML metadata',
        [buildMetadata()],
        text(value => parseMetadata(value, NOW)),
        BODY,
      ),
      ...(['cas1', 'cas2', 'cas3', 'saml11'] as const).map(version =>
        small(
          `reply of ${version}`,
          [...seeds.casReplies, serviceResponse('anna'), serviceResponse(undefined)],
          text(value => verifyReply(version, value, cas)),
          65_536,
        ),
      ),
      ...(await archiveTargets(archive)),
    ],
    close: async () => {
      await graphs.close()
      await verifier.close()
    },
  }
}

const BASE = 'http://a.example/'
const form: IriForms = {
  href: BASE,
  toAbsolute: iri => toAbsolute(BASE, iri),
  toRelative: iri => toRelative(BASE, iri),
  absoluteGraph: graph => absoluteGraph(BASE, graph),
}

async function readAll(bytes: Buffer): Promise<void> {
  const source = {
    size: bytes.length,
    read: async ({ first, last }: ByteRange) => Readable.from([bytes.subarray(first, last + 1)]),
  }
  await surveyArchive(source)
  for await (const item of readArchive(source, 'c', form)) {
    if (item.kind !== 'file') continue
    for await (const chunk of bytesOf(item.open)) assert.ok(chunk.length > 0)
  }
}

/** What is changed stands in a member, so that it gets past the zip. */
async function archiveTargets(archive: Buffer): Promise<Target[]> {
  const members = await membersOf(archive)
  const changing = (name: string): Target => {
    const corpus = members.filter(member => member.name === name).map(({ bytes }) => bytes)
    const run = async (bytes: Buffer): Promise<void> =>
      await readAll(await archiveOf(members.map(member => (member.name === name ? { ...member, bytes } : member))))
    return { name: `${name} of an archive`, corpus, most: BODY, run }
  }
  const zip: Target = { name: 'archive', corpus: [archive], most: BODY, run: readAll }
  return [zip, ...[MANIFEST, SUMMARY, batchName(1)].map(changing)]
}
