import { answer, type Body, done, elsewhere, json, type Operations, ref, unchanged } from './operation.ts'

const anyBytes: Body = { types: ['*/*'], schema: {} }

/** What entries hold (wire facts 3.8). */
export const resourceOperations: Operations = {
  'GET /:context/resource/:entry': {
    summary: 'The file, text, graph, list, user or group that an entry holds.',
    query: { download: 'As an attachment.', format: 'Media type of a graph.', sort: 'Order of a list.' },
    answers: {
      200: answer('The resource, of its own media type.', anyBytes),
      204: answer('No file has been uploaded.'),
      206: answer('A part of the file.', anyBytes),
      303: elsewhere,
      304: unchanged,
    },
  },
  'PUT /:context/resource/:entry': {
    summary: 'Upload a file; or replace text, graph, list, members, data of a user.',
    query: { mimeType: 'Media type of the file, instead of `Content-Type`.' },
    body: anyBytes,
    answers: { 201: answer('The file is stored.', json(ref('StoredFile'))), 204: done },
  },
  'DELETE /:context/resource/:entry': {
    summary: 'Delete the file, or empty the list.',
    query: { recursive: '`true`: a list with all that is in it.' },
    answers: { 204: done },
  },
  'POST /:context/resource/:entry': {
    summary: 'Move an entry to this list; or upload a file, as browsers do.',
    query: {
      method: '`put`: as PUT.',
      moveEntry: 'The entry.',
      fromList: 'The list that it leaves.',
      removeAll: 'Whichever list it is in.',
    },
    answers: {
      200: answer(
        'Its address from now on.',
        json({ type: 'object', properties: { entryURI: { type: 'string' } }, required: ['entryURI'] }),
      ),
      201: answer('The file is stored.', json(ref('StoredFile'))),
      204: done,
    },
  },
}
