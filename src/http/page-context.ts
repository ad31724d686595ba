import Negotiator from 'negotiator'
import type { FastifyRequest } from 'fastify'
import type { PageContext } from './pages/html.ts'
import { catalogues, type Language, languages } from './pages/messages.ts'
import type { Services } from './services.ts'
import { assetPath } from './ui-assets.ts'

/** How pages look to whoever asks: his language, by `Accept-Language`, and where style and pictures are. */
export function pageContext({ base, ui }: Pick<Services, 'base' | 'ui'>, request: FastifyRequest): PageContext {
  const language = (new Negotiator(request.raw).languages(languages)[0] ?? 'en') as Language
  return {
    language,
    words: catalogues[language],
    style: base.at(assetPath(ui.names.style)),
    icon: base.at(assetPath(ui.names.icon)),
    home: base.at('auth/login'),
  }
}
