import Negotiator from 'negotiator'
import type { FastifyRequest } from 'fastify'
import type { PageContext } from './pages/html.ts'
import { catalogues, type Language, languages } from './pages/messages.ts'
import type { Uses } from './services.ts'
import { assetPath } from './ui-assets.ts'

/** What every page needs: the language by `Accept-Language`, and the addresses of style and pictures. */
export function pageContext({ base, ui }: Uses<'base' | 'ui'>, request: FastifyRequest): PageContext {
  const language = (new Negotiator(request.raw).languages(languages)[0] ?? 'en') as Language
  return {
    language,
    words: catalogues[language],
    style: base.at(assetPath(ui.names.style)),
    icon: base.at(assetPath(ui.names.icon)),
    home: base.at('auth/login'),
  }
}
