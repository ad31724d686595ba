import { ask } from './api.ts'
import { type Graph, titleIn, valuesOf } from './contexts.ts'

export interface StoredFile {
  readonly entryId: string
  readonly name: string
  /** Bytes; `undefined` while the entry has no file. */
  readonly size: number | undefined
  readonly mediaType: string | undefined
  readonly modified: Date | undefined
  readonly mayDelete: boolean
}

interface Hit {
  readonly entryId: string
  readonly info: Graph
  readonly metadata?: Graph
  readonly rights?: readonly string[]
}

interface Found {
  readonly resource: { readonly children: readonly Hit[] }
  readonly results: number
}

const DCT = 'http://purl.org/dc/terms/'
const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'
const MAX_AT_ONCE = 100

/** What has a meaning in queries. */
const escape = (text: string): string => text.replaceAll(/[^\w./-]/g, sign => `\\${sign}`)

/** The files of a context, latest changed first, the first so many. @param contextUri as the service writes it */
export async function loadFiles(
  contextUri: string,
  wanted: number,
  signal: AbortSignal,
): Promise<{ readonly files: readonly StoredFile[]; readonly results: number }> {
  const query = `context:${escape(contextUri)} AND graphType:None AND entryType:Local`
  const hits: Hit[] = []
  for (;;) {
    const limit = Math.min(MAX_AT_ONCE, wanted - hits.length)
    const parameters = new URLSearchParams({
      type: 'solr',
      query,
      sort: 'modified desc',
      limit: String(limit),
      offset: String(hits.length),
    })
    const found = await ask<Found>(`search?${parameters.toString()}`, { signal })
    hits.push(...found.resource.children)
    const isEnough = hits.length >= Math.min(wanted, found.results)
    if (isEnough || found.resource.children.length === 0) return { files: hits.map(fileOf), results: found.results }
  }
}

function fileOf({ entryId, info, metadata, rights = [] }: Hit): StoredFile {
  const [size] = valuesOf(info, `${DCT}extent`)
  const [modified] = valuesOf(info, `${DCT}modified`)
  return {
    entryId,
    name: valuesOf(info, LABEL)[0] ?? titleIn(metadata) ?? entryId,
    size: size === undefined ? undefined : Number(size),
    mediaType: valuesOf(info, `${DCT}format`)[0],
    modified: modified === undefined ? undefined : new Date(modified),
    mayDelete: rights.includes('administer'),
  }
}
