import assert from 'node:assert/strict'
import type { Answer, Visitor } from './http-client.ts'

export const STORE = 'http://entrystore.org/terms/'
export const DCT = 'http://purl.org/dc/terms/'
export const TITLE = `${DCT}title`
export const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
export const LABEL = 'http://www.w3.org/2000/01/rdf-schema#label'

interface Term {
  readonly type: string
  readonly value: string
}
export type GraphJson = Record<string, Record<string, Term[]>>

export interface EntryJson {
  readonly entryId: string
  readonly name?: string
  readonly alias?: string
  readonly info: GraphJson
  readonly metadata?: GraphJson
  readonly relations?: GraphJson
  readonly rights?: readonly string[]
  readonly resource?: unknown
  readonly quota?: QuotaJson
}

export interface QuotaJson {
  readonly quota: number
  readonly fillLevel: number
  readonly hasDefaultQuota: boolean
}

export const uriTerm = (value: string): Term => ({ type: 'uri', value })
export const textTerm = (value: string): Term => ({ type: 'literal', value })

/** `{ subject: { predicate: [object] } }` for one statement. */
export const graphOf = (subject: string, predicate: string, ...objects: Term[]): GraphJson => ({
  [subject]: { [predicate]: objects },
})

export const principal = (visitor: Visitor, id: string): Term => uriTerm(`${visitor.base}_principals/resource/${id}`)

/** An entry with all that the visitor may see. */
export async function readEntry(visitor: Visitor, context: string, id: string): Promise<EntryJson> {
  const answer = await visitor.get(`${context}/entry/${id}?includeAll`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<EntryJson>()
}

/** The values that the info of an entry gives for one subject, relative to the base address, and one predicate. */
export const valuesOf = (visitor: Visitor, entry: EntryJson, subject: string, predicate: string): string[] =>
  (entry.info[visitor.base + subject]?.[predicate] ?? []).map(term => term.value)

export const modifiedOf = (visitor: Visitor, context: string, entry: EntryJson): string =>
  valuesOf(visitor, entry, `${context}/entry/${entry.entryId}`, `${DCT}modified`)[0] ?? ''

/** Holds that a request is refused in this way, as a problem with a stable code (D1.4). */
export function assertRefused(answer: Answer, status: number, code: string, what = ''): void {
  assert.equal(answer.status, status, `${what} ${answer.text}`)
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/)
  const problem = answer.json()
  assert.equal(problem['code'], code, what)
  assert.equal(problem['status'], status)
  assert.equal(problem['error'], problem['detail'])
}
