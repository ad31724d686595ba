import { InvalidInput } from '../../base/errors.ts'
import type { Milliseconds } from '../../base/units.ts'
import { requireText } from '../../content/values.ts'
import { CONTEXTS, type EntryAddress, isId, PRINCIPALS } from '../../model/addresses.ts'

/** What an operation does with each entry. */
export const actions = ['move', 'copy', 'trash', 'restore', 'purge', 'share', 'tag'] as const
export type Action = (typeof actions)[number]

/** Roles that a user or group gets; `none` takes all from them. */
export const roles = ['owner', 'writer', 'reader', 'none'] as const
export type Role = (typeof roles)[number]

/** Where entries are moved or copied to. */
export interface Destination {
  /** Id of a context. */
  readonly context: string
  /** Id of a list in it; absent: in no list. */
  readonly list?: string | undefined
}

export interface Share {
  /** Id of a user or group. */
  readonly principal: string
  readonly role: Role
}

export interface Tags {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** What is done, without the entries. The members that the action does not use are absent. */
export interface OperationRequest {
  readonly action: Action
  readonly to?: Destination | undefined
  readonly share?: Share | undefined
  readonly tags?: Tags | undefined
}

/** Which entries an operation changes. Exactly one of the first three is given. */
export interface Selection {
  readonly entries?: readonly string[] | undefined
  /** Id of a list: what is in it. */
  readonly list?: string | undefined
  /** What this query finds in the context. */
  readonly query?: string | undefined
  /** Ids of entries that are left out. */
  readonly except?: readonly string[] | undefined
}

/**
 * `running` until it is over: then `done`, even if the action failed for some entries, `cancelled`, or `ended` because it could not go on, for instance after the
 * session of its maker has ended.
 */
export const states = ['running', 'done', 'cancelled', 'ended'] as const
export type State = (typeof states)[number]

/** An entry that was not changed. */
export interface Failure {
  readonly entry: string
  readonly code: string
  readonly reason: string
}

export interface Operation {
  readonly id: string
  /** Id of the context that the entries are in. */
  readonly context: string
  /** Id of the user. */
  readonly maker: string
  readonly request: OperationRequest
  readonly state: State
  /** Number of entries. */
  readonly total: number
  /** Number of entries that are over, those that failed included. */
  readonly position: number
  readonly failed: number
  /** The first of those that failed. */
  readonly failures: readonly Failure[]
  /** Why it has ended. */
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly created: Milliseconds
  readonly finished: Milliseconds | undefined
}

/** An entry whose turn comes. */
export interface PlannedEntry extends EntryAddress {
  readonly position: number
  /** Id of the copied list that it is in. */
  readonly list: string | undefined
}

/** Maximum number of entries of one operation. */
export const MAX_ENTRIES = 10_000
const MAX_TAGS = 50
const MAX_TAG_CHARACTERS = 200

const wrong = (detail: string): InvalidInput => new InvalidInput('invalid-value', detail)

/** Checks what the schema of the body cannot say about its texts. They are stored, and shown again in failures. @throws {InvalidInput} */
export function requireTexts(
  { to, share, tags }: OperationRequest,
  { entries = [], except = [], list }: Selection,
): void {
  const ids = [...entries, ...except, list ?? [], to?.list ?? [], share?.principal ?? []].flat()
  const bad = ids.find(id => !isId(id))
  if (bad !== undefined)
    throw wrong(`An id has 1 to 128 letters, digits, "_" and "-", but one is ${JSON.stringify(bad.slice(0, 60))}.`)
  if (to) requireText(to.context, 'to.context')
  for (const tag of [...(tags?.add ?? []), ...(tags?.remove ?? [])]) requireText(tag, 'tags')
}

/** Checks which members are there. @throws {InvalidInput} */
export function requireRequest(context: string, request: OperationRequest, selection: Selection): void {
  const { action, to, share, tags } = request
  const needed = { move: to, copy: to, share, tag: tags, trash: true, restore: true, purge: true }[action]
  const member = { move: 'to', copy: 'to', share: 'share', tag: 'tags', trash: '', restore: '', purge: '' }[action]
  if (needed === undefined) throw wrong(`The action \`${action}\` needs the member \`${member}\`.`)
  const unused = Object.entries({ to, share, tags }).find(([name, value]) => value !== undefined && name !== member)
  if (unused) throw wrong(`The action \`${action}\` does not use the member \`${unused[0]}\`.`)
  const ways = [selection.entries, selection.list, selection.query].filter(given => given !== undefined).length
  if (ways !== 1) throw wrong('Name the entries with exactly one of `entries`, `list` and `query`.')
  const isInTrash = action === 'restore' || action === 'purge'
  if (isInTrash && selection.entries === undefined)
    throw wrong(
      `The action \`${action}\` needs \`entries\`: entries in the trash are in no list, and no search finds them.`,
    )
  for (const id of [context, to?.context])
    if (id === CONTEXTS || id === PRINCIPALS)
      throw new InvalidInput('invalid-type', 'Contexts, users and groups are changed one at a time.')
  if (tags) requireTags(tags)
}

function requireTags({ add, remove }: Tags): void {
  const all = [...add, ...remove]
  if (all.length === 0 || all.length > MAX_TAGS)
    throw wrong(`\`tags\` must name 1 to ${MAX_TAGS} tags, but names ${all.length}.`)
  const bad = all.find(tag => tag.trim() !== tag || tag === '' || tag.length > MAX_TAG_CHARACTERS)
  if (bad !== undefined)
    throw wrong(
      `A tag must have 1 to ${MAX_TAG_CHARACTERS} characters and no blank at either end, but one is "${bad.slice(0, 60)}".`,
    )
}
