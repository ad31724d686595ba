import type { FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, TooLarge } from '../base/errors.ts'
import { parseJson } from '../base/json.ts'
import type { Bytes } from '../base/units.ts'
import { cachedMetadataUri, entryUri, metadataUri, resourceUri } from '../model/addresses.ts'
import { type CreationBody, type CreationRequest, NEW_ID } from '../content/creation.ts'
import { type EntryType, entryTypes, type GraphType, graphTypes } from '../model/entry.ts'
import { isObject } from '../content/values.ts'
import { type Graph, parseRdfJson } from '../graph/graph.ts'
import { RELATIVE } from '../graph/iri.ts'
import type { BaseAddress } from './base-address.ts'
import { graphsToRdfJson } from './embedded-rdf.ts'
import { pathPart } from './route.ts'
import type { Services } from './services.ts'

/** Reads the query of a creation; the body is only fetched when the service asks for it (wire facts 3.2.1). */
export function readCreation(deps: Services, request: FastifyRequest, reply: FastifyReply): CreationRequest {
  const { base, bodies } = deps
  const { parameters } = request
  const graphType = readGraphType(parameters.get('graphtype'))
  const uriParameter = (name: string): string | undefined => {
    const value = parameters.get(name)
    // It would pass for an address of the service that has been made relative already.
    if (value?.startsWith(RELATIVE)) throw new InvalidInput('invalid-uri', `The parameter ${name} is not absolute.`)
    return value === undefined ? undefined : base.toRelative(value)
  }
  const readGraph = (value: unknown): Graph => base.graphInside(deps.graphs.requireSize(parseRdfJson(value)))
  return {
    id: parameters.get('id'),
    resource: uriParameter('resource'),
    externalMetadata: uriParameter('cached-external-metadata'),
    entryType: readEntryType(parameters.get('entrytype')),
    graphType,
    namedResource: parameters.get('informationresource') === 'false',
    groupUri: uriParameter('groupURI'),
    listUri: uriParameter('list'),
    templateUri: uriParameter('template'),
    body: async () => {
      const sent = await bodies.jsonText(request.raw, reply.raw)
      const bases = graphBases(base, pathPart(request, 'context'), graphType)
      const text = await graphsToRdfJson(deps, request, sent, bases)
      return newId => readBody(withNewId(text, newId, deps.options.body.maxJson), readGraph)
    },
    readGraph,
  }
}

/** The limit on bodies holds for what they come to: an id is up to twenty times as long as what stands for it. */
function withNewId(text: string, newId: string, limit: Bytes): string {
  const expanded = text.length + (text.split(NEW_ID).length - 1) * (newId.length - NEW_ID.length)
  if (expanded <= limit) return text.replaceAll(NEW_ID, newId)
  throw new TooLarge('body-too-large', `With every ${NEW_ID} replaced, the body has more than ${limit} characters.`, {
    extra: { limit },
  })
}

/** The members of the body that are graphs, and the addresses that they will have. */
function graphBases(base: BaseAddress, context: string, graphType: GraphType): Record<string, string> {
  const address = { context, id: NEW_ID }
  return {
    metadata: base.toAbsolute(metadataUri(address)),
    info: base.toAbsolute(entryUri(address)),
    'cached-external-metadata': base.toAbsolute(cachedMetadataUri(address)),
    ...(graphType === 'Graph' || graphType === 'Pipeline' ? { resource: base.toAbsolute(resourceUri(address)) } : {}),
  }
}

function readBody(text: string, readGraph: (value: unknown) => Graph): CreationBody {
  if (text.trim() === '') return {}
  const json = parseJson(text)
  if (!isObject(json)) throw new InvalidInput('invalid-json', 'The body of a creation is a JSON object.')
  const { metadata, info, resource, 'cached-external-metadata': cached } = json
  return {
    ...(metadata === undefined ? {} : { metadata: readGraph(metadata) }),
    ...(cached === undefined ? {} : { cachedExternalMetadata: readGraph(cached) }),
    ...(info === undefined ? {} : { info: readGraph(info) }),
    ...(resource === undefined ? {} : { resource }),
  }
}

function readEntryType(text: string | undefined): EntryType {
  if (text === undefined || text === '') return 'Local'
  const type = entryTypes.find(type => type.toLowerCase() === text.toLowerCase())
  if (type) return type
  throw new InvalidInput('invalid-query', `\`entrytype\` is one of ${entryTypes.join(', ')}, not "${text}".`)
}

/** Unknown values mean None, as existing clients expect (wire facts 1.4). */
const readGraphType = (text: string | undefined): GraphType =>
  graphTypes.find(type => type.toLowerCase() === text?.toLowerCase()) ?? 'None'
