import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotFound } from '../../base/errors.ts'
import { acceptedCoding, codedTag } from '../compression.ts'
import { lookFor } from '../look.ts'
import { pageHeaders } from '../pages/html.ts'
import { uiPage, uiPolicy } from '../pages/ui-page.ts'
import type { Route } from '../route.ts'
import type { Services } from '../services.ts'
import { assetPath } from '../ui-assets.ts'
import { addVary } from '../vary.ts'

/**
 * The application for people: one page for all addresses under `ui/`, which finds out by itself which is meant, and its
 * files. Both are the same for everybody, so nobody is recognised here.
 */
export const uiRoutes = (on: Services): Route[] => {
  const marks = { method: 'GET', ignoresCaller: true, visited: true } as const
  return [
    { url: '/ui', handle: getFirst(on), ...marks },
    { url: '/ui/*', handle: getPage(on), ...marks },
    { url: '/ui/assets/:name', handle: getAsset(on), ...marks },
  ]
}

const getFirst = (on: Services) => async (_: FastifyRequest, reply: FastifyReply) =>
  await reply.redirect(on.base.at('ui/'), 303)

const getPage = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  // Under another of its names this machine has other cookies, and what is written from there counts as another site's.
  if (on.base.isOtherNameOfLoopback(request.raw.headers.host)) return await reply.redirect(on.base.at('ui/'), 303)
  const page = uiPage(lookFor(on, request), on.base.path, on.base.at(assetPath(on.ui.names.app)))
  const etag = `"${createHash('sha256').update(page).digest('base64url')}"`
  addVary(reply, 'accept-language')
  reply.headers({ ...pageHeaders, 'content-security-policy': uiPolicy, 'cache-control': 'no-cache', etag })
  if (request.headers['if-none-match'] === etag) return await reply.status(304).send()
  return await reply.type('text/html; charset=utf-8').send(page)
}

const getAsset = (on: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { name = '' } = request.params as { readonly name?: string }
  const asset = on.ui.files.get(name)
  if (!asset) throw new NotFound('not-found', 'There is nothing at this address.')
  // Its name carries a hash of its content.
  reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', etag: `"${name}"` })
  addVary(reply, 'accept-encoding')
  if (request.headers['if-none-match'] === `"${name}"`) return await reply.status(304).send()
  const coding = acceptedCoding(request)
  const coded = coding && asset.coded[coding]
  if (!coded) return await reply.type(asset.mediaType).send(asset.bytes)
  reply.headers({ 'content-encoding': coding, etag: codedTag(`"${name}"`, coding) })
  return await reply.type(asset.mediaType).send(coded)
}
