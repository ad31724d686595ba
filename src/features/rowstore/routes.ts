import type { HttpServices } from '../../http/http-services.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { done, invalid, json, requiredText, route, shown } from '../../http/interface/route.ts'
import { list, object, openObject, optional } from '../../http/interface/schema.ts'
import { uri } from '../../http/interface/shared-schemas.ts'
import { clientGoneSignal } from '../../http/protocol/response-end.ts'
import { entryUri } from '../../model/addresses.ts'
import type { Datasets } from './datasets.ts'

interface Services extends HttpServices {
  readonly datasets: Datasets
}

const upstream = {
  501: ['not-available'],
  502: ['upstream-failed'],
  503: ['overloaded'],
  504: ['upstream-silent'],
} as const

/** Datasets of a RowStore, as clients of EntryStore make and delete them (D18.32). */
export const rowStoreRoutes = [
  route({
    id: 'runPipeline',
    method: 'POST',
    url: '/:context/execute',
    chapter: 'Tools',
    summary: 'Run a pipeline that makes a CSV file available as a dataset of a RowStore.',
    access: 'callers who can write to the context, and read the pipeline and the file',
    details:
      'The pipeline has one `store:transform` of the type `rowstore`. Its arguments are `action` (`create`, `replace`, `append` or `setalias`) and, except for `create`, `datasetURL`; `setalias` sets `alias`, and without `alias` removes the alias. `result` is the address of the entry that describes the dataset. For a new dataset the service creates this entry: a Reference with the graph type PipelineResult, whose external metadata are the status of the dataset.',
    body: jsonBody(openObject({ pipeline: uri, source: optional(uri) }), {
      example: { pipeline: 'https://store.example.org/1/entry/2', source: 'https://store.example.org/1/entry/3' },
    }),
    answers: { 201: json('The RowStore has received the file.', object({ result: list(uri) })) },
    refusals: {
      400: ['invalid-json', 'invalid-uri', 'invalid-type', 'invalid-value'],
      401: [],
      403: ['not-allowed', 'host-refused'],
      404: ['not-found', 'no-file'],
      ...upstream,
    },
    handle: async ({ base, datasets }: Services, { reply, caller, params, body }) => {
      const address = await datasets.run(caller, params.context, body, clientGoneSignal(reply))
      reply.status(201)
      return { result: [base.toAbsolute(entryUri(address))] }
    },
  }),
  route({
    id: 'deleteDataset',
    method: 'DELETE',
    url: '/:context/resource/:entry',
    parameter: 'proxy',
    chapter: 'Resources',
    summary: 'Delete the dataset of a RowStore that an entry describes.',
    details: 'With `proxy=true`, delete the dataset of a RowStore that the entry describes.',
    query: { proxy: requiredText('`true`: deletes the dataset at the RowStore.', { example: 'true' }) },
    answers: { 204: done },
    refusals: {
      400: ['invalid-type'],
      401: [],
      403: ['not-allowed', 'host-refused'],
      404: [],
      ...upstream,
    },
    handle: async ({ datasets }: Services, { reply, caller, params, query }) => {
      if (query.proxy !== 'true') throw invalid(`\`proxy\` must be \`true\`, but is "${shown(query.proxy)}".`)
      await datasets.delete(caller, params, clientGoneSignal(reply))
      return await reply.status(204).send()
    },
  }),
]
