import { answer, done, graph, json, type Operation, type Operations, ref, unchanged } from './operation.ts'

const created = answer('Created; its address is in `Location`.', json(ref('Created')))
const readGraph = { 200: answer('The graph.', graph), 304: unchanged }
const quota = answer('The quota.', json(ref('Quota')))
const formats = { format: 'Media type of the answer, instead of `Accept`.' }

const writeGraph = (summary: string): Operation => ({ summary, body: graph, answers: { 204: done } })

/** Contexts, entries, their metadata and search (wire facts 3). */
export const entryOperations: Operations = {
  'GET /:context': {
    summary: 'Ids of all entries of a context.',
    query: { entryname: 'In `_contexts` and `_principals`: only the id of what has this name.' },
    answers: { 200: answer('Ids.', json(ref('Ids'))) },
  },
  'POST /:context': {
    summary: 'Create an entry.',
    query: {
      id: 'The wanted id.',
      entrytype: '`local`, `link`, `linkreference`, `reference`.',
      graphtype: '`none`, `string`, `graph`, `list`, `user`, `group`, `context`, …',
      resource: 'URI of the resource.',
      'cached-external-metadata': 'URI of metadata elsewhere.',
      informationresource: '`false`: the resource is a thing.',
      groupURI: 'Group that a new user joins; takes the right to write to the group.',
      list: 'List that the entry joins.',
      template: 'Entry whose metadata are added.',
      rdfFormat: 'Syntax of the graphs in the body.',
      file: 'The body is the file of the new entry, described by `Content-Type` and `Content-Disposition`.',
      mimeType: 'With `file`: its media type, instead of `Content-Type`.',
    },
    body: json(ref('Json')),
    answers: { 201: created },
  },
  'PUT /:context': {
    summary: 'Change alias and quota of a context.',
    body: json({
      type: 'object',
      properties: { alias: { type: 'string' }, quota: { type: 'integer', minimum: -1 } },
    }),
    answers: { 200: answer('The context.', json(ref('Context'))) },
  },
  'POST /_principals/groups': {
    summary: 'Create a group and a context that it may write to.',
    query: { name: 'Name of group and context.', contextId: 'The wanted id of the context.' },
    answers: { 201: created },
  },
  'GET /:context/quota': { summary: 'How full a context is.', answers: { 200: quota } },
  'PUT /:context/quota': {
    summary: 'Set the quota of a context.',
    body: json({ type: 'object', properties: { quota: { type: 'integer', minimum: -1 } }, required: ['quota'] }),
    answers: { 200: quota },
  },
  'DELETE /:context/quota': { summary: 'Go back to the default quota.', answers: { 200: quota } },
  'GET /:context/entry/:entry': {
    summary: 'An entry: its info, and all else that the caller may read.',
    query: {
      includeAll: 'With metadata, relations, rights and resource.',
      rdfFormat: '`application/ld+json`: graphs as JSON-LD.',
      limit: 'How many members of a list.',
      offset: 'From which on.',
      sort: '`title`, `modified`, `created`, `size`.',
      order: '`asc`, `desc`.',
      prio: 'Graph type that comes first.',
      lang: 'Language of titles.',
      ...formats,
    },
    answers: {
      200: answer('The entry; in other types than JSON its info.', { ...graph, schema: ref('Entry') }),
      304: unchanged,
    },
  },
  'PUT /:context/entry/:entry': {
    ...writeGraph('Replace the info of an entry.'),
    query: { applyACLtoChildren: 'Give the access list to all that is in the list.' },
  },
  'DELETE /:context/entry/:entry': {
    summary: 'Delete an entry and what is its own.',
    query: { recursive: '`true`: a list with all that is in it.' },
    answers: { 204: done },
  },
  'GET /:context/entry/:entry/name': {
    summary: 'Name of a user, group or context.',
    answers: { 200: answer('The name.', json(ref('Name'))) },
  },
  'PUT /:context/entry/:entry/name': {
    summary: 'Change the name of a user, group or context.',
    body: json(ref('Name')),
    answers: { 204: done },
  },
  'GET /:context/relations/:entry': {
    summary: 'What other entries say about an entry.',
    query: formats,
    answers: readGraph,
  },
  'GET /:context/metadata/:entry': {
    summary: 'Metadata of an entry.',
    query: {
      ...formats,
      download: 'As an attachment.',
      rev: 'Number of a revision.',
      recursive: 'With the metadata of entries that these predicates lead to.',
      depth: 'How many links to follow.',
      scope: '`context`: only entries of this context.',
    },
    answers: readGraph,
  },
  'PUT /:context/metadata/:entry': writeGraph('Replace the metadata of an entry.'),
  'DELETE /:context/metadata/:entry': { summary: 'Empty the metadata of an entry.', answers: { 204: done } },
  'GET /:context/cached-external-metadata/:entry': {
    summary: 'Copy of metadata that are kept elsewhere.',
    query: formats,
    answers: readGraph,
  },
  'PUT /:context/cached-external-metadata/:entry': writeGraph('Replace the copy of metadata kept elsewhere.'),
  'DELETE /:context/cached-external-metadata/:entry': { summary: 'Delete the copy.', answers: { 204: done } },
  'GET /:context/merged-metadata/:entry': {
    summary: 'Metadata of both kinds in one graph.',
    query: formats,
    answers: readGraph,
  },
  'GET /search': {
    summary: 'Find entries that the caller may read.',
    query: {
      type: '`solr`.',
      query: 'The query.',
      limit: 'Most hits.',
      offset: 'How many hits to pass over.',
      sort: '`title.en+asc,modified+desc`.',
      filterQuery: 'Further queries.',
      facetFields: 'Fields whose values are counted.',
      facetMinCount: 'Values with fewer hits are left out.',
      facetLimit: 'Most values of a field.',
      facetMissing: '`true`: count hits without the field.',
      facetMatches: 'Pattern for values.',
      rdfFormat: '`application/ld+json`: graphs as JSON-LD.',
    },
    answers: { 200: answer('Hits.', json(ref('SearchResult'))) },
  },
}
