import { InvalidInput, NotAcceptable, UnsupportedType } from '../../base/errors.ts'
import type { Incoming } from '../../files/staging.ts'
import { documentTypes } from '../../graph/documents.ts'
import { announcesBody, mediaTypeOf } from '../../http/protocol/body.ts'
import type { Parameters } from '../../http/protocol/parameters.ts'
import { clientGoneSignal } from '../../http/protocol/response-end.ts'
import { prefersHtml } from '../../http/protocol/negotiate.ts'
import { contentDisposition } from '../../http/download.ts'
import {
  content,
  custom,
  type Exchange,
  flagParameter,
  invalid,
  textParameter,
  route,
} from '../../http/interface/route.ts'
import { streamedBody } from '../../http/interface/bodies.ts'
import { anyOf, anything, object, optional, text } from '../../http/interface/schema.ts'
import { count } from '../../http/interface/shared-schemas.ts'
import { requireSuperUser } from '../../accounts/caller-guards.ts'
import type { RightCheck } from '../../http/running-transfers.ts'
import type { HttpServices } from '../../http/http-services.ts'
import { mediaTypeParameter } from '../../http/representations.ts'
import { fileRefusals, formUpload, requirePlainBody, senderOf } from '../../http/upload-request.ts'
import type { ContextExport } from './export.ts'
import type { ContextImport } from './import.ts'

const chapter = 'Archives and statistics'
const zipTypes = ['application/zip', 'application/x-zip-compressed', 'application/octet-stream']

const Imported = object({ entries: count, files: count, bytes: count, report: optional(anything) })

interface Services extends HttpServices {
  readonly exports: ContextExport
  readonly imports: ContextImport
}

/** Whole contexts: export to one file, import from one (W3.16). */
export const archiveRoutes = [
  route({
    id: 'exportContext',
    method: 'GET',
    url: '/:context/export',
    chapter,
    summary: 'Export all entries of a context as one zip.',
    details:
      'With `rdfFormat` the zip is a context export of EntryStore: `triples.rdf`, `export.properties` and `resources/{entry}`. Without it, ' +
      'the zip has all that an import needs, and those two files as well.',
    access: 'the user `_admin`',
    query: {
      metadataOnly: flagParameter('Leaves out files. With `rdfFormat` the zip contains nothing but metadata.'),
      rdfFormat: textParameter(
        'Media type of the statements. An import reads TriG and TriX; the others lose the names of the graphs.',
        { keywords: { enum: documentTypes } },
      ),
    },
    answers: { 200: content('The zip.', ['application/zip'], anything) },
    refusals: { 400: ['invalid-type'], 401: [], 403: [], 404: [], 406: ['not-acceptable'] },
    handle: async ({ base, exports, transfers }: Services, { request, reply, caller, params, query }) => {
      const { metadataOnly } = query
      const type = mediaTypeParameter(request, 'rdfFormat')
      if (type !== undefined) requireDocumentType(type)
      const { context, open } =
        type === undefined
          ? await exports.export(caller, params.context, { metadataOnly, form: base, withTriples: true })
          : await exports.exportTriples(caller, params.context, { metadataOnly, form: base, type })
      const name = type === undefined ? context : `context_${context}_export`
      reply.type('application/zip').header('content-disposition', contentDisposition(`${name}.zip`))
      if (request.method !== 'HEAD') transfers.watch(request, reply, whileSuperUser('export a context'))
      return await reply.send(request.method === 'HEAD' ? undefined : open())
    },
  }),
  route({
    id: 'importContext',
    method: 'POST',
    url: '/:context/import',
    chapter,
    summary: 'Replace all entries of a context by those of an exported zip. Send the zip as the body or in a form.',
    access: 'the user `_admin`',
    details:
      'The zip is an export of Stowage or of EntryStore. After an import from EntryStore the response has a `report`.',
    query: {
      groups: custom(
        'For an export of EntryStore, which contains no names of groups: the ids of groups in the export with their names in this service, such as `4:editors,7:authors`.',
        readGroups,
        { example: '4:editors' },
      ),
    },
    body: streamedBody([...zipTypes, 'multipart/form-data'], { isRequired: true }),
    answers: {
      200: content(
        'What was imported; for a form, and where HTML is preferred, `<textarea></textarea>`.',
        ['application/json', 'text/html'],
        anyOf(Imported, text()),
      ),
    },
    refusals: {
      400: [
        'invalid-archive',
        'invalid-graph',
        'invalid-type',
        'invalid-value',
        'missing-body',
        'missing-file',
        'invalid-form',
        ...fileRefusals[400],
      ],
      401: [],
      403: [],
      404: [],
      408: ['request-timeout'],
      409: ['conflict'],
      413: fileRefusals[413],
      503: fileRefusals[503],
    },
    handle: async ({ base, bodies, imports, transfers }: Services, { request, reply, caller, params, query }) => {
      const refused = transfers.watchBody(request, reply, whileSuperUser('import a context'))
      const isForm = mediaTypeOf(request.raw) === 'multipart/form-data'
      const incoming = isForm
        ? formUpload({ bodies }, request, reply, refused)
        : rawArchive({ bodies }, request, reply, refused)
      const imported = await imports.import(caller, params.context, incoming, {
        form: base,
        groups: query.groups,
      })
      // A form inside a frame needs this media type; it does not display the content.
      return isForm || prefersHtml(request)
        ? await reply.type('text/html; charset=utf-8').send('<textarea></textarea>')
        : imported
    },
  }),
]

const whileSuperUser =
  (action: string): RightCheck =>
  async caller => {
    requireSuperUser(caller, action)
    return []
  }

/** @throws {InvalidInput} `invalid-query` */
function readGroups(parameters: Parameters, name: string): ReadonlyMap<string, string> {
  const pairs = (parameters.get(name) ?? '').split(',').filter(pair => pair !== '')
  return new Map(
    pairs.map(pair => {
      const [, id = '', group = ''] = /^([A-Za-z0-9_-]{1,128}):(.{1,255})$/u.exec(pair) ?? []
      if (id === '') throw invalid(`\`${name}\` must be pairs of id and name such as 4:editors,7:authors.`)
      return [id, group] as const
    }),
  )
}

/** @throws {NotAcceptable} */
function requireDocumentType(type: string): void {
  if (documentTypes.includes(type)) return
  throw new NotAcceptable(
    'not-acceptable',
    `Statements are exported as ${documentTypes.join(', ')}, not ${type.slice(0, 200)}.`,
  )
}

function rawArchive(
  { bodies }: Pick<Services, 'bodies'>,
  request: Exchange['request'],
  reply: Exchange['reply'],
  refused: AbortSignal,
): Incoming {
  return {
    declaredSize: undefined,
    signal: clientGoneSignal(reply),
    sender: senderOf(request),
    open: () => {
      requirePlainBody(request)
      if (!announcesBody(request.raw)) throw new InvalidInput('missing-body', 'The request has no body.')
      const type = mediaTypeOf(request.raw)
      if (type !== undefined && zipTypes.includes(type)) return bodies.stream(request.raw, reply.raw, refused)
      throw new UnsupportedType(
        'unsupported-type',
        `The body must be ${zipTypes.join(' or ')}, not ${type ?? 'untyped'}.`,
      )
    },
  }
}
