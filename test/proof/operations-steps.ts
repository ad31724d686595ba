import assert from 'node:assert/strict'
import { type EntryJson, type GraphJson, principal, STORE, textTerm } from '../support/content.ts'
import { moving } from '../support/folder-access.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import { operate } from '../support/operations.ts'
import { find, type HitJson } from '../support/search.ts'

/** The single steps of operations, as requests that a client without operations would send, and what must be alike afterwards. */

const TAG = 'http://www.w3.org/ns/dcat#keyword'

export interface OperationBody {
  readonly action: string
  readonly entries: readonly string[]
  readonly to?: { readonly context: string; readonly list?: string }
  readonly share?: { readonly principal: string; readonly role: 'owner' | 'writer' | 'reader' | 'none' }
  readonly tags?: { readonly add: readonly string[]; readonly remove: readonly string[] }
}

/** For the history of a run. */
export const textOf = ({ entries, ...rest }: OperationBody): string => {
  const known = entries.filter(id => !id.startsWith('none'))
  return `${JSON.stringify(rest)} with ${entries.length} entries, among them ${known.join(' ')}`
}

interface Step {
  readonly visitor: Visitor
  /** Reads what the step needs to know, whatever the visitor may read. */
  readonly admin: Visitor
  readonly context: string
  readonly id: string
  readonly body: OperationBody
}

export interface Failed {
  readonly entry: string
  readonly code: string
}

/** Takes the step of one entry. Resolves to what has failed. */
export async function takeStep(step: Step): Promise<readonly Failed[]> {
  const { visitor, context, id, body } = step
  // There are many of these; a few requests show what all of them get.
  if (/^none-\d\d/.test(id)) return [{ entry: id, code: 'not-found' }]
  const answer = body.action === 'share' ? await share(step) : await send(step)
  if (answer === 'conflict') return [{ entry: id, code: 'conflict' }]
  if (answer === undefined) {
    // No single request does this, but an operation on one entry does.
    return (await operate(visitor, context, { ...body, entries: [id] })).failures
  }
  assert.ok(answer.status < 500, answer.text)
  return answer.status < 400 ? [] : [{ entry: id, code: String(answer.json()['code']) }]
}

async function send(step: Step): Promise<Answer | undefined> {
  const { visitor, context, id, body } = step
  switch (body.action) {
    case 'move':
      return await move(step)
    case 'trash':
      return await visitor.post(`${context}/trash/${id}`)
    case 'restore':
      return await visitor.post(`${context}/trash/${id}/restore`)
    case 'purge':
      return await visitor.delete(`${context}/trash/${id}`)
    case 'tag':
      return await visitor.put(`${context}/metadata/${id}`, await taggedMetadata(step))
    default:
      return undefined
  }
}

async function move({ visitor, admin, context, id, body: { to } }: Step): Promise<Answer | undefined> {
  if (to?.list !== undefined) return await visitor.post(moving(visitor, to.context, id, to.list, context))
  if (to?.context !== context) return undefined
  const list = await listOf(admin, context, id)
  if (list === undefined) return undefined
  const members = (await admin.get(`${context}/resource/${list}`)).json<string[]>()
  return await visitor.put(
    `${context}/resource/${list}`,
    members.filter(member => member !== id),
  )
}

async function listOf(admin: Visitor, context: string, id: string): Promise<string | undefined> {
  const answer = await admin.get(`${context}/entry/${id}?includeAll`)
  if (answer.status !== 200) return undefined
  for (const [subject, said] of Object.entries(answer.json<EntryJson>().relations ?? {})) {
    const isListed = said[`${STORE}hasListMember`]?.some(({ value }) => value === `${admin.base}${context}/entry/${id}`)
    if (isListed === true) return subject.slice(`${admin.base}${context}/resource/`.length)
  }
  return undefined
}

const slots = [
  ['entry', 'write'],
  ['resource', 'read'],
  ['resource', 'write'],
  ['metadata', 'read'],
  ['metadata', 'write'],
] as const

const slotsOf = { owner: [0], writer: [2, 4], reader: [1, 3], none: [] } as const

/** A list that decides alone keeps somebody: the operation refuses what a single request does. */
async function share(step: Step): Promise<Answer | 'conflict'> {
  const { admin, visitor, context, id } = step
  const path = `${context}/entry/${id}`
  const [answer, own] = [await admin.get(path), await visitor.get(`${path}?includeAll`)]
  const info = answer.status === 200 ? sharedInfo(step, localised(answer.json<EntryJson>().info, admin, visitor)) : {}
  if (info) return await visitor.put(path, info)
  const mayShare = own.status === 200 && own.json<EntryJson>().rights?.includes('administer') === true
  return mayShare ? 'conflict' : await visitor.put(path, {})
}

/**
 * The info with one more role of a user, or without all of theirs; `undefined` when nobody would be left. An access list that was empty adds
 * to what comes from above.
 */
function sharedInfo({ visitor, context, id, body: { share } }: Step, info: GraphJson): GraphJson | undefined {
  assert.ok(share)
  const namesOf = (slot: number): string[] => {
    const [kind, predicate] = slots[slot] ?? slots[0]
    return (info[`${visitor.base}${context}/${kind}/${id}`]?.[STORE + predicate] ?? []).map(({ value }) => value)
  }
  const iri = (one: string): string => principal(visitor, one).value
  const named = slots.map((_, slot) => namesOf(slot))
  const isNamedIn = (one: string): boolean => named.every(names => names.includes(iri(one)))
  const isFolder = JSON.stringify(info).includes(`${STORE}List"`)
  const gave = isFolder && named.some(names => names.includes(iri('_folder')))
  const isOwn = named.some(names => names.length > 0)
  const user = iri(share.principal)
  let after: string[][]
  if (share.role === 'none') {
    after = named.map(names => names.filter(name => name !== user))
    const isEmpty = after.flat().every(name => [iri('_context'), iri('_folder')].includes(name))
    if (isEmpty && isOwn && !isNamedIn('_context')) {
      // Only a list that decides alone would change who has access.
      if (!isNamedIn('_folder')) return undefined
      after = named.map(() => [])
    }
  } else {
    const isClosed = isOwn && !isNamedIn('_context') && !isNamedIn('_folder')
    const base =
      isOwn && (isClosed || isNamedIn('_context') || isNamedIn('_folder')) ? named : named.map(() => [iri('_folder')])
    const given: readonly number[] = slotsOf[share.role]
    after = base.map((names, slot) => (given.includes(slot) ? [...new Set([...names, user])] : names))
    if (isFolder && !gave && !after.flat().includes(iri('_folder'))) after[1]?.push(iri('_folder'))
  }
  const changed: GraphJson = {}
  for (const [subject, said] of Object.entries(info)) {
    const rest = Object.entries(said).filter(([predicate]) => !isOfAccess(predicate))
    if (rest.length > 0) changed[subject] = Object.fromEntries(rest)
  }
  for (const [slot, [kind, predicate]] of slots.entries()) {
    const terms = (after[slot] ?? []).map(value => ({ type: 'uri', value }))
    const subject = `${visitor.base}${context}/${kind}/${id}`
    if (terms.length > 0) changed[subject] = { ...changed[subject], [STORE + predicate]: terms }
  }
  return changed
}

const isOfAccess = (predicate: string): boolean => predicate === `${STORE}read` || predicate === `${STORE}write`

/** The metadata with further tags and without others. */
async function taggedMetadata({ admin, visitor, context, id, body: { tags } }: Step): Promise<GraphJson> {
  assert.ok(tags)
  const answer = await admin.get(`${context}/metadata/${id}`, { accept: 'application/json' })
  if (answer.status !== 200) return {}
  const graph = localised(answer.json<GraphJson>(), admin, visitor)
  const about = `${visitor.base}${context}/resource/${id}`
  const { [TAG]: present = [], ...others } = graph[about] ?? {}
  const kept = present.filter(({ value }) => !tags.remove.includes(value))
  const added = tags.add.filter(tag => !tags.remove.includes(tag) && !present.some(({ value }) => value === tag))
  const all = [...kept, ...added.map(textTerm)]
  return { ...graph, [about]: { ...others, ...(all.length > 0 && { [TAG]: all }) } }
}

const localised = (graph: GraphJson, { base }: Visitor, visitor: Visitor): GraphJson =>
  JSON.parse(JSON.stringify(graph).replaceAll(base, visitor.base)) as GraphJson

interface Look {
  readonly admin: Visitor
  readonly visitor: Visitor
  readonly contexts: readonly string[]
  readonly users: readonly string[]
}

/** Everything that can be seen, without addresses and times. */
export async function stateOf({ admin, visitor, contexts, users }: Look): Promise<object> {
  const state: Record<string, unknown> = {}
  let bytes = 0
  for (const context of contexts) {
    const hits = await hitsOf(admin, context)
    state[context] = hits.map(hit => canonical(plain(admin, JSON.stringify(hit))))
    assert.deepEqual(
      (await admin.get(context)).json<string[]>().sort(),
      hits.map(({ entryId }) => entryId),
    )
    let ofFiles = 0
    for (const { entryId, info } of hits) {
      const resource = await seen(admin, `${context}/resource/${entryId}`)
      const isFile = !/terms\/(List|String)"/.test(JSON.stringify(info))
      if (isFile && resource.startsWith('x')) ofFiles += resource.length
      state[`${context}/resource/${entryId}`] = resource
    }
    // Its order is that of the times, which differ.
    const trash = canonical(await seen(admin, `${context}/trash?limit=100`)) as TrashJson
    state[`${context}/trash`] = trash
    const usage = JSON.parse(await seen(admin, `quota/contexts/${context}`)) as { fillLevel: number }
    state[`quota of ${context}`] = usage
    assert.equal(usage.fillLevel, ofFiles + trash.bytes, `the usage of ${context} is the sum of its files`)
    bytes += usage.fillLevel
    const readable = await hitsOf(visitor, context)
    state[`${context} of one`] = readable.map(({ entryId, rights }) => [entryId, rights])
    for (const { entryId } of hits.slice(-8)) {
      const answer = await visitor.get(`${context}/entry/${entryId}?includeAll`)
      const isFound = readable.some(hit => hit.entryId === entryId)
      state[`${context}/entry/${entryId} of one`] =
        answer.status === 200 ? answer.json<EntryJson>().rights : answer.status
      if (isFound) assert.equal(answer.status, 200, `${context}/${entryId} is found`)
    }
    state[`tags in ${context}`] = await Promise.all(
      ['tag.literal:red', 'tag.literal:blue', 'title:t1*'].map(async query =>
        (await hitsOf(admin, context, ` AND ${query}`)).map(({ entryId }) => entryId),
      ),
    )
  }
  for (const user of users) state[`quota of user ${user}`] = await seen(admin, `quota/users/${user}`)
  const store = JSON.parse(await seen(admin, 'quota/store')) as { fillLevel: number }
  assert.equal(store.fillLevel, bytes, 'the usage of the store is the sum of its contexts')
  return state
}

interface TrashJson {
  readonly items: readonly object[]
  readonly bytes: number
}

/** What has no order of its own is sorted. */
function canonical(text: string): unknown {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).map(([key, one]): [string, unknown] => [key, sorted(one)])
    return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return sorted(JSON.parse(text))
}

/** A body, or the status without one. */
async function seen(visitor: Visitor, path: string): Promise<string> {
  const answer = await visitor.get(path)
  return answer.status === 200 ? plain(visitor, answer.text) : String(answer.status)
}

const plain = (visitor: Visitor, text: string): string =>
  text.replaceAll(visitor.base, './').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'T')

/** What a visitor finds in a context, in the order of the ids. */
export async function hitsOf(visitor: Visitor, context: string, more = ''): Promise<readonly HitJson[]> {
  const place = `context:${`${visitor.base}${context}`.replaceAll(/[:/.]/g, String.raw`\$&`)}`
  const { resource } = await find(visitor, place + more, '&limit=100')
  return resource.children.toSorted((a, b) => (a.entryId < b.entryId ? -1 : 1))
}
