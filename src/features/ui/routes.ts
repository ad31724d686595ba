import { createHash } from 'node:crypto'
import { NotFound } from '../../base/errors.ts'
import { isUnchanged } from '../../http/representations.ts'
import { acceptedCoding, addVary, codedTag } from '../../http/protocol/negotiate.ts'
import { assetPath, pageContext, preloadsOf } from '../../http/page.ts'
import { pageHeaders } from '../../http/pages/html.ts'
import { pdfPage, pdfPolicy, uiPage, uiPolicy } from './ui-page.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { type Exchange, undescribed } from '../../http/interface/route.ts'

const marks = { method: 'GET', skipAuth: true, htmlErrors: true } as const

interface Services extends HttpServices {
  readonly ledger: Pick<Ledger, 'enforced'>
  /** Whether users can send each other mails. */
  readonly hasMails: boolean
  /** Where users without a context ask for one. */
  readonly contact: string | undefined
}

/**
 * The page of the application. It names the files that the view at this path needs, and requests data only in browsers that may be signed
 * in.
 */
function applicationPage(deps: Services, request: Exchange['request'], path: string): string {
  const { base, ui, ledger, hasMails, contact } = deps
  const context = pageContext(deps, request)
  const at = (name: string): string => base.at(assetPath(name))
  const languages = Object.fromEntries(Object.entries(ui.names.languages).map(([tag, name]) => [tag, at(name)]))
  const { scripts, data } = preloadsOf(ui, path)
  const texts = ui.names.languages[context.language] ?? []
  return uiPage(context, {
    basePath: base.path,
    hasQuotas: ledger.enforced,
    hasMails,
    contact,
    script: at(ui.names.app),
    languages,
    preloads: {
      scripts: [texts, scripts].flat().map(at),
      data: request.cookies.hasAuthToken ? data.map(url => base.path + url) : [],
    },
  })
}

/**
 * The application for people: its files, and one page for all addresses under `ui/`, whose script shows the view of the address. Callers
 * are not identified here, because nothing in the page or the files depends on the user.
 */
export const uiRoutes = [
  undescribed({
    ...marks,
    url: '/ui',
    handle: async ({ base }: Services, { reply }) => await reply.redirect(base.at('ui/'), 303),
  }),
  undescribed({
    ...marks,
    url: '/ui/*',
    handle: async (deps: Services, { request, reply, params }) => {
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
    handle: async (deps: Services, { request, reply }) => {
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
    handle: async ({ ui }: Services, { request, reply, params: { name } }) => {
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
