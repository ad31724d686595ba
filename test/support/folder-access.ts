import assert from 'node:assert/strict'
import { type GraphJson, principal, STORE } from './content.ts'
import type { Visitor } from './http-client.ts'

/** Access lists of folders, which are for everything in them (adr: access-follows-folders). */

const places = [
  ['entry', 'write'],
  ['resource', 'read'],
  ['resource', 'write'],
  ['metadata', 'read'],
  ['metadata', 'write'],
] as const

/** Whom an access list names, by their ids. */
export interface Named {
  readonly owners?: readonly string[]
  readonly writers?: readonly string[]
  readonly readers?: readonly string[]
  /** Whether it decides alone, instead of adding to what comes from above. */
  readonly only?: boolean
}

/** The info of an entry with this access list. */
export function infoNaming(
  visitor: Visitor,
  [context, id]: readonly [string, string],
  { owners = [], writers = [], readers = [], only = false }: Named,
): GraphJson {
  const info: GraphJson = {}
  for (const [kind, predicate] of places) {
    const named = kind === 'entry' ? owners : predicate === 'write' ? writers : readers
    const isMarked = !only || (kind === 'resource' && predicate === 'read')
    const terms = [...named, ...(isMarked ? ['_folder'] : [])].map(one => principal(visitor, one))
    const subject = `${visitor.base}${context}/${kind}/${id}`
    if (terms.length > 0) info[subject] = { ...info[subject], [STORE + predicate]: terms }
  }
  return info
}

/** Gives an entry this access list. */
export async function share(visitor: Visitor, context: string, id: string, named: Named): Promise<void> {
  const answer = await visitor.put(`${context}/entry/${id}`, infoNaming(visitor, [context, id], named))
  assert.equal(answer.status, 204, answer.text)
}

/** Gives a context this access list. */
export async function shareContext(
  admin: Visitor,
  context: string,
  { owners = [], readers = [] }: Pick<Named, 'owners' | 'readers'>,
): Promise<void> {
  const terms = (ids: readonly string[]) => ids.map(id => principal(admin, id))
  const answer = await admin.put(`_contexts/entry/${context}`, {
    [`${admin.base}_contexts/entry/${context}`]: { [`${STORE}write`]: terms(owners) },
    [admin.base + context]: { [`${STORE}read`]: terms(readers) },
  })
  assert.equal(answer.status, 204, answer.text)
}

/** The path that moves an entry into a list. */
export const moving = ({ base }: Visitor, context: string, id: string, list: string, from = context): string =>
  `${context}/resource/${list}?removeAll&moveEntry=${base}${from}/entry/${id}`

export async function moveInto(visitor: Visitor, context: string, id: string, list: string): Promise<void> {
  const answer = await visitor.post(moving(visitor, context, id, list))
  assert.equal(answer.status, 200, answer.text)
}
