import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { content, invalid, requiredText, route } from '../interface/route.ts'
import { anything } from '../interface/schema.ts'
import { contentDisposition } from '../download.ts'
import type { Uses } from '../services.ts'

const MAX_IDS = 500

/**
 * Selected files and folders in one zip, under the names that users see (D25.7). The archive of a whole
 * context has another format.
 */
export const zipRoutes = [
  route({
    id: 'downloadZip',
    method: 'GET',
    url: '/:context/zip',
    chapter: 'Resources',
    summary: 'Download files and folders as one zip, with the names that people see.',
    access: 'callers who can read the resource of each entry',
    details:
      'A list becomes a folder. What the caller may not read in it is left out, and so is what is neither file nor list. At most 10,000 entries, with all that is in the lists.',
    query: { entries: requiredText(`Ids of entries, separated by commas, at most ${MAX_IDS}.`, { example: 'one' }) },
    answers: { 200: content('The zip.', ['application/zip'], anything) },
    refusals: { 400: ['invalid-query', 'invalid-type'], 401: [], 403: [], 404: [], 413: ['zip-too-large'] },
    handle: async ({ zips }: Uses<'zips'>, { request, reply, caller, params, query }) => {
      const { name, open } = await zips.open(caller, params.context, readIds(query.entries))
      return await sendZip(request, reply, name, open)
    },
  }),
]

function readIds(text: string): string[] {
  const ids = text.split(',').filter(id => id !== '')
  if (ids.length > 0 && ids.length <= MAX_IDS) return ids
  throw invalid(`\`entries\` must have 1 to ${MAX_IDS} ids, separated by commas.`)
}

/** When the client leaves, the stream is closed, and so is the file that is being read. */
export async function sendZip(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
  open: () => Readable,
): Promise<FastifyReply> {
  reply.type('application/zip').header('content-disposition', contentDisposition(`${name}.zip`))
  return await reply.send(request.method === 'HEAD' ? undefined : open())
}
