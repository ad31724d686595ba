import type { HttpServices } from '../http-services.ts'
import { StaticText } from '../protocol/compression.ts'
import { json, route } from '../interface/route.ts'
import { type Paths, openApiDocument } from '../interface/document.ts'
import { anything, mapOf } from '../interface/schema.ts'

/**
 * The description of the interface, for programs that generate clients and tests from it. @param paths of all
 * offered routes
 */
export const openApiRoute = (paths: () => Paths) => {
  // Made once: it takes as long as twenty small responses. It is made again for a service at another address.
  let made: { readonly base: string; readonly text: StaticText } | undefined
  const textFor = ({ base, cookie, options: { version } }: HttpServices): StaticText => {
    if (made?.base !== base.href) {
      const document = openApiDocument(paths(), { version, base: base.href, cookie: cookie.name })
      made = { base: base.href, text: new StaticText(JSON.stringify(document)) }
    }
    return made.text
  }
  return route({
    id: 'readInterface',
    method: 'GET',
    url: '/openapi.json',
    chapter: 'Status and administration',
    summary: 'Read the description of this interface in OpenAPI 3.1. It describes only what is switched on.',
    answers: { 200: json('The document.', mapOf(anything)) },
    skipAuth: true,
    handle: async (deps: HttpServices, { request, reply }) =>
      await textFor(deps).send(request, reply.type('application/json')),
  })
}
