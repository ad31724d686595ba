import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotFound } from '../../base/errors.ts'
import { acceptedCoding, codedTag } from '../compression.ts'
import { pageContext } from '../page-context.ts'
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
export const uiRoutes = (deps: Services): Route[] => {
  const marks = { method: 'GET', ignoresCaller: true, visited: true } as const
  return [
    { url: '/ui', handle: getFirst(deps), ...marks },
    { url: '/ui/*', handle: getPage(deps), ...marks },
    { url: '/ui/assets/:name', handle: getAsset(deps), ...marks },
  ]
}

const getFirst = (deps: Services) => async (_: FastifyRequest, reply: FastifyReply) =>
  await reply.redirect(deps.base.at('ui/'), 303)

const getPage = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  // Under another of its names this machine has other cookies, and what is written from there counts as another site's.
  if (deps.base.isOtherNameOfLoopback(request.raw.headers.host)) return await reply.redirect(deps.base.at('ui/'), 303)
  const page = uiPage(pageContext(deps, request), deps.base.path, deps.base.at(assetPath(deps.ui.names.app)))
  const etag = `"${createHash('sha256').update(page).digest('base64url')}"`
  addVary(reply, 'accept-language')
  reply.headers({ ...pageHeaders, 'content-security-policy': uiPolicy, 'cache-control': 'no-cache', etag })
  if (request.headers['if-none-match'] === etag) return await reply.status(304).send()
  return await reply.type('text/html; charset=utf-8').send(page)
}

const getAsset = (deps: Services) => async (request: FastifyRequest, reply: FastifyReply) => {
  const { name = '' } = request.params as { readonly name?: string }
  const asset = deps.ui.files.get(name)
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
