import type { ReadHttp } from '../../http/http-services.ts'
import { choice, requiredText, route, wholeNumber } from '../../http/interface/route.ts'
import { answerFormat, representationFor } from '../../http/representations.ts'
import { graphAnswer } from '../../http/routes/entries.ts'
import { download, refuseGraphQuery, sendMetadata } from '../../http/routes/metadata.ts'
import { MAX_DEPTH, MAX_ENTRIES } from './limits.ts'
import type { Traversals } from './traversals.ts'

interface Services extends ReadHttp {
  readonly traversals: Traversals
}

/** The metadata of an entry and of linked entries (W3.5): the address of its metadata, with the parameter `recursive`. */
export const traversalRoutes = [
  route({
    id: 'readLinkedMetadata',
    method: 'GET',
    url: '/:context/metadata/:entry',
    parameter: 'recursive',
    chapter: 'Entries',
    summary: 'Read the metadata of an entry and of those that it leads to.',
    query: {
      recursive: requiredText(
        `Adds the metadata of the entries that these links lead to, as far as the caller may read them, at most ${MAX_ENTRIES} entries. The value is a list separated by commas: names of profiles (\`dcat\`, and those in the settings), or predicates as IRIs or short forms such as \`dcterms:hasPart\`. A predicate with \`^\` before it is followed backwards.`,
        { example: 'dcterms:relation' },
      ),
      depth: wholeNumber(`With \`recursive\`: how many links to follow, at most ${MAX_DEPTH}.`, {
        otherwise: MAX_DEPTH,
        max: 999_999_999,
        cap: MAX_DEPTH,
      }),
      scope: choice('With `recursive`: `context`: only entries of this context.', ['context'], undefined),
      format: answerFormat,
      download,
    },
    answers: { 200: graphAnswer('The graph.') },
    refusals: { 401: [], 403: [], 404: ['not-found'], 406: ['not-acceptable'], 501: ['not-available'] },
    heavy: true,
    compressible: true,
    handle: async (deps: Services, { request, reply, caller, params, query }) => {
      const { base, traversals } = deps
      const representation = representationFor(request, reply)
      const found = await traversals.read(caller, params, query, iri => base.toRelative(iri))
      refuseGraphQuery(request)
      return await sendMetadata(deps, request, reply, { representation, found })
    },
  }),
]
