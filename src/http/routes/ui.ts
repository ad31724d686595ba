import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { NotFound } from '../../base/errors.ts'
import { isUnchanged } from '../representations.ts'
import { acceptedCoding, addVary, codedTag } from '../protocol/negotiate.ts'
import { assetPath, pageContext, preloadsOf } from '../page.ts'
import { pageHeaders } from '../pages/html.ts'
import { pdfPage, pdfPolicy, uiPage, uiPolicy } from '../pages/ui-page.ts'
import { undescribed } from '../interface/route.ts'
import type { Uses } from '../services.ts'

const marks = { method: 'GET', skipAuth: true, htmlErrors: true } as const

type PageServices = Uses<'base' | 'ui' | 'ledger' | 'options' | 'accessMails'>

/** The page around the application. It names what the view at this path needs, and requests only for browsers that may be signed in. */
function applicationPage(deps: PageServices, request: FastifyRequest, path: string): string {
  const { base, ui, ledger, options, accessMails } = deps
  const context = pageContext(deps, request)
  const at = (name: string): string => base.at(assetPath(name))
  const languages = Object.fromEntries(Object.entries(ui.names.languages).map(([tag, name]) => [tag, at(name)]))
  const { scripts, data } = preloadsOf(ui, path)
  const texts = ui.names.languages[context.language] ?? []
  return uiPage(context, {
    basePath: base.path,
    hasQuotas: ledger.enforced,
    hasMails: accessMails !== undefined,
    contact: options.contact,
    script: at(ui.names.app),
    languages,
    preloads: {
      scripts: [texts, scripts].flat().map(at),
      data: request.cookies.hasAuthToken ? data.map(url => base.path + url) : [],
    },
  })
}

/**
 * The application for people: one page for all addresses under `ui/`, which shows the right view itself, and
 * its files. Callers are not identified here: nothing in them depends on who is signed in.
 */
export const uiRoutes = [
  undescribed({
    ...marks,
    url: '/ui',
    handle: async ({ base }: Uses<'base'>, { reply }) => await reply.redirect(base.at('ui/'), 303),
  }),
  undescribed({
    ...marks,
    url: '/ui/*',
    handle: async (deps: PageServices, { request, reply, params }) => {
      const { base } = deps
      // Under another of its names this machine has other cookies, and writes from there count as cross-site
      // requests.
      if (base.isOtherNameOfLoopback(request.raw.headers.host)) return await reply.redirect(base.at('ui/'), 303)
      const page = applicationPage(deps, request, params['*'])
      const etag = `"${createHash('sha256').update(page).digest('base64url')}"`
      const isKnown = isUnchanged(request.headers, { etag })
      addVary(reply, 'accept-language')
      reply.headers({ ...pageHeaders, 'content-security-policy': uiPolicy, 'cache-control': 'no-cache', etag })
      if (isKnown) return await reply.status(304).send()
      return await reply.type('text/html; charset=utf-8').send(page)
    },
  }),
  undescribed({
    ...marks,
    url: '/ui/pdf',
    handle: async (deps: Uses<'base' | 'ui'>, { request, reply }) => {
      const { base, ui } = deps
      const page = pdfPage(pageContext(deps, request), base.at(assetPath(ui.names.pdf)))
      addVary(reply, 'accept-language')
      reply.headers({ ...pageHeaders, 'content-security-policy': pdfPolicy(base.origin), 'cache-control': 'no-cache' })
      return await reply.type('text/html; charset=utf-8').send(page)
    },
  }),
  undescribed({
    ...marks,
    url: '/ui/assets/:name',
    handle: async ({ ui }: Uses<'ui'>, { request, reply, params: { name } }) => {
      const asset = ui.files.get(name)
      if (!asset) throw new NotFound('not-found', 'There is nothing at this address.')
      // The name of the file contains a hash of its content.
      const etag = `"${name}"`
      const isKnown = isUnchanged(request.headers, { etag })
      const coding = acceptedCoding(request, asset.codings)
      reply.headers({
        'cache-control': 'public, max-age=31536000, immutable',
        etag: coding ? codedTag(etag, coding) : etag,
      })
      addVary(reply, 'accept-encoding')
      if (isKnown) return await reply.status(304).send()
      if (coding) reply.header('content-encoding', coding)
      return await reply.type(asset.mediaType).send(await asset.read(coding))
    },
  }),
]
