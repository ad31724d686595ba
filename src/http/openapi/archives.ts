import { answer, json, type Operations, type Schema } from './operation.ts'

const zip = ['application/zip', 'application/x-zip-compressed', 'application/octet-stream', 'multipart/form-data']
const count: Schema = { type: 'integer', minimum: 0 }

const imported: Schema = {
  type: 'object',
  properties: { entries: count, files: count, bytes: count },
  required: ['entries', 'files', 'bytes'],
}

const statistics: Schema = {
  type: 'object',
  properties: {
    type: { enum: ['property', 'keyword', 'ontology'] },
    entries: count,
    complete: { type: 'boolean' },
    counts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, lang: { type: 'string' }, count },
        required: ['name', 'count'],
      },
    },
  },
  required: ['type', 'entries', 'complete', 'counts'],
}

/** Contexts as a whole (wire facts 3.16). */
export const archiveOperations: Operations = {
  'GET /:context/export': {
    summary: 'All that is in a context, as one archive.',
    query: { metadataOnly: 'Without files.', rdfFormat: 'RDF/JSON, and no other.' },
    answers: { 200: answer('The archive.', { types: ['application/zip'], schema: {} }) },
  },
  'POST /:context/import': {
    summary: 'Put an archive in place of all that is in a context.',
    body: { types: zip, schema: {} },
    answers: {
      200: answer('Imported; for a form an empty `<textarea>`.', {
        types: ['application/json', 'text/html'],
        schema: { anyOf: [imported, { type: 'string' }] },
      }),
    },
  },
  'GET /:context/statistics/:type': {
    summary: 'What the metadata in a context are made of.',
    answers: { 200: answer('Counts.', json(statistics)) },
  },
}
