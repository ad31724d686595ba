import { content, invalid, requiredText, route } from '../../http/interface/route.ts'
import { anything } from '../../http/interface/schema.ts'
import { sendZip, untilSent } from '../../http/download.ts'
import { callerOnly } from '../../http/running-transfers.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { FileZips } from './file-zip.ts'

const MAX_IDS = 500

interface Services extends HttpServices {
  readonly zips: FileZips
}

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
      'A list becomes a folder. The zip leaves out entries in the list that the caller may not read, and entries that are neither files nor lists. It has at most 10,000 entries, including the content of lists.',
    query: { entries: requiredText(`Ids of entries, separated by commas, at most ${MAX_IDS}.`, { example: 'one' }) },
    answers: { 200: content('The zip.', ['application/zip'], anything) },
    refusals: {
      400: ['invalid-query', 'invalid-type'],
      401: [],
      403: [],
      404: [],
      413: ['zip-too-large'],
      503: ['overloaded'],
    },
    handle: async ({ transfers, zips }: Services, { request, reply, caller, params, query }) => {
      const options = { onEnd: untilSent(reply) }
      const { name, open } = await zips.open(caller, params.context, readIds(query.entries), options)
      return await sendZip({ transfers }, request, reply, { name, open, check: callerOnly })
    },
  }),
]

function readIds(text: string): string[] {
  const ids = text.split(',').filter(id => id !== '')
  if (ids.length > 0 && ids.length <= MAX_IDS) return ids
  throw invalid(`\`entries\` must have 1 to ${MAX_IDS} ids, separated by commas.`)
}
