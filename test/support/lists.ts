import assert from 'node:assert/strict'
import { type EntryJson, graphOf, readEntry, TITLE, textTerm } from './content.ts'
import type { Visitor } from './http-client.ts'
import { newEntry } from './service.ts'

export interface ListJson {
  readonly children: readonly (EntryJson & { readonly size?: number })[]
  readonly size: number
  readonly limit: number
  readonly offset: number
  readonly allUnsorted: readonly string[]
}

/** The list inside its entry, with whatever query after `includeAll`. */
export async function readList(visitor: Visitor, context: string, id: string, query = ''): Promise<ListJson> {
  const answer = await visitor.get(`${context}/entry/${id}?includeAll${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ resource: ListJson }>().resource
}

export const childIds = (list: ListJson): string[] => list.children.map(({ entryId }) => entryId)

/** The ids that `GET` of the list's resource gives. */
export async function idsOf(visitor: Visitor, context: string, id: string, query = ''): Promise<string[]> {
  const answer = await visitor.get(`${context}/resource/${id}${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<string[]>()
}

export const newList = (visitor: Visitor, context: string, members: readonly string[] = []): Promise<string> =>
  newEntry(visitor, context, '?graphtype=list', { resource: members })

/** An entry with a title, which `_newId` stands for the subject of. */
export const newTitled = (visitor: Visitor, context: string, title: string, query = ''): Promise<string> =>
  newEntry(visitor, context, query, {
    metadata: graphOf(`${visitor.base}${context}/resource/_newId`, TITLE, textTerm(title)),
  })

/** The subjects that say, in the relations of an entry, that it is a member of theirs. */
export async function parentLists(visitor: Visitor, context: string, id: string): Promise<string[]> {
  const { relations = {} } = await readEntry(visitor, context, id)
  return Object.entries(relations)
    .filter(([, said]) =>
      said['http://entrystore.org/terms/hasListMember']?.some(
        ({ value }) => value === `${visitor.base}${context}/entry/${id}`,
      ),
    )
    .map(([subject]) => subject.slice(visitor.base.length))
}
