import { parseJson } from '../base/json.ts'
import { type Graph, parseRdfJson } from './graph.ts'
import { readJsonLd, writeJsonLd } from './json-ld.ts'
import { readRdfXml, writeRdfXml } from './rdf-xml.ts'
import { type GraphPlace, writeNTriples } from './text.ts'
import { readTrix, writeTrix } from './trix.ts'
import { readTurtle, writeTurtle } from './turtle.ts'

/** One way to write a graph down. */
export interface Syntax {
  /** Stable: part of entity tags. */
  readonly name: string
  /** The first is the media type of the syntax; the others are older names. */
  readonly mediaTypes: readonly string[]
  /** Of files. */
  readonly extension: string
  /**
   * @param base resolves relative references; a graph of this name counts as the default graph
   * @param maxStatements after which reading stops; `requireGraphSize` checks the graph
   * @throws {InvalidInput} `invalid-graph` @throws {TooLarge} `graph-too-large`
   */
  readonly read: (text: string, base: string, maxStatements?: number) => Graph | Promise<Graph>
  /**
   * Piece by piece, so that other requests run.
   * @param place JSON-LD and TriX write the graph with this name
   * @throws {NotAcceptable} when the syntax cannot say it
   */
  readonly write: (graph: Graph, place?: GraphPlace) => Iterable<string>
}

/** All syntaxes, in the order in which they are preferred. Parsers are loaded when first needed. */
export const syntaxes: readonly Syntax[] = [
  {
    name: 'json',
    mediaTypes: ['application/rdf+json', 'application/json'],
    extension: 'json',
    read: text => parseRdfJson(parseJson(text)),
    write: graph => [JSON.stringify(graph)],
  },
  {
    name: 'ttl',
    mediaTypes: ['text/turtle', 'application/x-turtle'],
    extension: 'ttl',
    read: async (text, base, most) => await readTurtle(text, base, 'Turtle', most),
    write: writeTurtle,
  },
  {
    name: 'jsonld',
    mediaTypes: ['application/ld+json'],
    extension: 'jsonld',
    read: readJsonLd,
    write: writeJsonLd,
  },
  {
    name: 'rdf',
    mediaTypes: ['application/rdf+xml'],
    extension: 'rdf',
    read: readRdfXml,
    write: writeRdfXml,
  },
  {
    name: 'nt',
    mediaTypes: ['application/n-triples'],
    extension: 'nt',
    read: async (text, base, most) => await readTurtle(text, base, 'N-Triples', most),
    write: writeNTriples,
  },
  {
    name: 'n3',
    mediaTypes: ['text/n3', 'text/rdf+n3'],
    extension: 'n3',
    read: async (text, base, most) => await readTurtle(text, base, 'N3', most),
    write: writeTurtle,
  },
  {
    name: 'trig',
    mediaTypes: ['application/trig', 'application/x-trig'],
    extension: 'trig',
    read: async (text, base, most) => await readTurtle(text, base, 'TriG', most),
    write: writeTurtle,
  },
  {
    name: 'trix',
    mediaTypes: ['application/trix'],
    extension: 'trix',
    read: readTrix,
    write: writeTrix,
  },
]

export const findSyntax = (mediaType: string): Syntax | undefined =>
  syntaxes.find(({ mediaTypes }) => mediaTypes.includes(mediaType))
