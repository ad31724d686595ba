import { json, route } from '../interface/route.ts'
import { type Paths, openApiDocument } from '../interface/document.ts'
import { anything, mapOf } from '../interface/schema.ts'
import type { Uses } from '../services.ts'

/**
 * The description of the interface, for programs that generate clients and tests from it. @param paths of all
 * offered routes
 */
export const openApiRoute = (paths: () => Paths) => {
  // Made once: it takes as long as twenty small responses. It is made again for a service at another address.
  let made: { readonly base: string; readonly bytes: Buffer } | undefined
  const bytesFor = ({ base, cookie, options: { version } }: Uses<'base' | 'cookie' | 'options'>): Buffer => {
    if (made?.base !== base.href) {
      const document = openApiDocument(paths(), { version, base: base.href, cookie: cookie.name })
      made = { base: base.href, bytes: Buffer.from(JSON.stringify(document)) }
    }
    return made.bytes
  }
  return route({
    id: 'readInterface',
    method: 'GET',
    url: '/openapi.json',
    chapter: 'Status and administration',
    summary: 'Read the description of this interface, as far as it is switched on, in OpenAPI 3.1.',
    answers: { 200: json('The document.', mapOf(anything)) },
    skipAuth: true,
    compressible: true,
    handle: async (deps: Uses<'base' | 'cookie' | 'options'>, { reply }) =>
      await reply.type('application/json').send(bytesFor(deps)),
  })
}
