import Negotiator from 'negotiator'
import type { FastifyRequest } from 'fastify'
import type { PageContext } from './pages/html.ts'
import type { Words } from './pages/messages.ts'
import type { Uses } from './services.ts'
import { assetPath } from './ui-assets.ts'

function requireEnglish({ words: { en } }: Uses<'ui'>['ui']): Words {
  if (en) return en
  throw new Error('there are no English words')
}

/** What every page needs: the language by `Accept-Language`, and the addresses of style and pictures. */
export function pageContext({ base, ui }: Uses<'base' | 'ui'>, request: FastifyRequest): PageContext {
  const language = new Negotiator(request.raw).languages(Object.keys(ui.words))[0] ?? 'en'
  return {
    language,
    words: ui.words[language] ?? requireEnglish(ui),
    style: base.at(assetPath(ui.names.style)),
    icon: base.at(assetPath(ui.names.icon)),
    home: base.at('auth/login'),
    application: base.at('ui/'),
  }
}
