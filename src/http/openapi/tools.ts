import { answer, graph, json, type Operation, type Operations, unchanged } from './operation.ts'

const lookup: Operation = {
  summary: 'Metadata by the URI of what they are about.',
  query: {
    uri: 'The URI of the resource.',
    scope: '`all`, `local`, `external`: which metadata.',
    format: 'Media type of the answer, instead of `Accept`.',
  },
  answers: { 200: answer('The graph.', graph), 304: unchanged },
}

const proxy: Operation = {
  summary: 'A public document of another server.',
  query: { url: 'Where it is.' },
  answers: { 200: answer('The document, of its own media type.', { types: ['*/*'], schema: {} }) },
}

const texts = { type: 'array', items: { type: 'string' } }

/** Lookup, documents of other servers, and what stands beside the content (wire facts 3.12 to 3.16). */
export const toolOperations: Operations = {
  'GET /lookup': lookup,
  'GET /:context/lookup': lookup,
  'GET /proxy': proxy,
  'GET /:context/proxy': proxy,
  'POST /echo': {
    summary: 'Send a file back as a page.',
    body: { types: ['multipart/form-data'], schema: { type: 'object' } },
    answers: { 200: answer('Status and text in a text area.', { types: ['text/html'], schema: { type: 'string' } }) },
  },
  'POST /validator': {
    summary: 'Check a graph.',
    body: graph,
    answers: {
      200: answer(
        'What is wrong with it.',
        json({ type: 'object', properties: { errors: texts }, required: ['errors'], additionalProperties: false }),
      ),
    },
  },
  'GET /:context/entry/:entry/index': {
    summary: 'What is searched of an entry.',
    answers: { 200: answer('Values by field.', json({ type: 'object', additionalProperties: texts })) },
  },
}
