import assert from 'node:assert/strict'
import type { GraphJson } from './content.ts'
import type { Visitor } from './http-client.ts'

export interface HitJson {
  readonly entryId: string
  readonly contextId: string
  readonly info: GraphJson
  readonly metadata?: GraphJson
  readonly 'cached-external-metadata'?: GraphJson
  readonly relations: GraphJson
  readonly truncated?: true
  readonly rights: readonly string[]
  readonly name?: string
  readonly alias?: string
  readonly disabled?: boolean
  readonly resource?: unknown
}

export interface FoundJson {
  readonly resource: { readonly children: readonly HitJson[] }
  readonly results: number
  readonly limit: number
  readonly offset: number
  readonly facetFields: ReadonlyArray<{
    readonly name: string
    readonly valueCount: number
    readonly values: ReadonlyArray<{ readonly name: string | null; readonly count: number }>
  }>
}

export const searchPath = (query: string, more = ''): string =>
  `search?type=solr&query=${encodeURIComponent(query)}${more}`

/** As clients write a value: colons and brackets behind backslashes. */
export const escaped = (value: string): string => value.replace(/[:()]/g, '\\$&')

/** What the visitor finds. @param more further parameters, each with its `&` */
export async function find(visitor: Visitor, query: string, more = ''): Promise<FoundJson> {
  const answer = await visitor.get(searchPath(query, more))
  assert.equal(answer.status, 200, answer.text)
  return answer.json<FoundJson>()
}

export const idsOf = (found: FoundJson): string[] => found.resource.children.map(hit => hit.entryId)
