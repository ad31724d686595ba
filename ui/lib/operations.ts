import { ask, Problem } from './api.ts'
import { part } from './base.ts'
import type { Role } from './access.ts'
import type { Item } from './files.ts'

/** From this number of items on, the service works through them by itself. */
export const MANY = 21

export type Action = 'move' | 'copy' | 'trash' | 'restore' | 'purge' | 'share' | 'tag'

/** Work on many items that the service does in the background. */
export interface Operation {
  readonly id: string
  readonly action: Action
  readonly state: 'running' | 'done' | 'cancelled' | 'ended'
  readonly total: number
  readonly done: number
  readonly failed: number
  /** The first of the items that could not be changed. */
  readonly failures: ReadonlyArray<{ readonly entry: string; readonly code: string; readonly reason: string }>
  /** Why it has ended. */
  readonly code?: string
  readonly reason?: string
}

/** The items of an operation: those with these ids, or what a query finds in the context. */
export type Chosen =
  | { readonly entries: readonly string[] }
  | { readonly query: string; readonly except: readonly string[] }

export interface NewOperation {
  /** Id of the context that the items are in. */
  readonly context: string
  readonly action: Action
  readonly chosen: Chosen
  readonly to?: { readonly context: string; readonly list?: string | undefined }
  readonly share?: { readonly principal: string; readonly role: Role | 'none' }
  readonly tags?: { readonly add: readonly string[]; readonly remove: readonly string[] }
  /** Names of items by their ids, as far as they are known. */
  readonly names?: ReadonlyMap<string, string>
  /** Called when it is over. */
  readonly onOver?: (operation: Operation) => void
}

/** An operation that is shown. */
export interface Shown {
  readonly context: string
  readonly operation: Operation
  readonly names: ReadonlyMap<string, string>
}

/** Milliseconds between two looks at an operation. Long ones are looked at less often. */
const FIRST_LOOK = 250
const LAST_LOOK = 4000

const changed = new EventTarget()
const CHANGE = 'change'
const OVER = 'over'
let all: readonly Shown[] = []

/** Those that are running, and those with failures that nobody has closed. */
export const operations = (): readonly Shown[] => all

export function onOperations(listener: () => void): () => void {
  changed.addEventListener(CHANGE, listener)
  return () => changed.removeEventListener(CHANGE, listener)
}

/** Calls the listener whenever an operation is over: lists of items may have changed. */
export function onOperationOver(listener: () => void): () => void {
  changed.addEventListener(OVER, listener)
  return () => changed.removeEventListener(OVER, listener)
}

function set(next: readonly Shown[]): void {
  all = next
  sessionStorage.setItem(SHOWN, JSON.stringify(all.map(({ context, operation }) => [context, operation.id])))
  changed.dispatchEvent(new Event(CHANGE))
}

/** Where a tab remembers what is shown, for when the page is loaded again. */
const SHOWN = 'operations'

const pathOf = (context: string, id: string): string => `${part(context)}/operations/${part(id)}`

/** Resolves when the service has begun. @throws {Problem} */
export async function beginOperation({ context, chosen, names, onOver, ...work }: NewOperation): Promise<void> {
  const json = { ...work, ...chosen }
  const operation = await ask<Operation>(`${part(context)}/operations`, { method: 'POST', json })
  show({ context, operation, names: names ?? new Map() }, onOver)
}

/** What this tab has shown before it was loaded again. */
export function findOperations(): void {
  let known: ReadonlyArray<readonly [string, string]> = []
  try {
    known = JSON.parse(sessionStorage.getItem(SHOWN) ?? '[]') as typeof known
  } catch {
    // Nothing is remembered.
  }
  for (const [context, id] of known) {
    if (all.some(({ operation }) => operation.id === id)) continue
    ask<Operation>(pathOf(context, id)).then(
      operation => show({ context, operation, names: new Map() }),
      // It belongs to another user of this browser, or has been forgotten.
      () => undefined,
    )
  }
}

/** What is done stays done. @throws {Problem} */
export const cancelOperation = ({ context, operation }: Shown): Promise<undefined> =>
  ask(pathOf(context, operation.id), { method: 'DELETE' })

export const closeOperation = (id: string): void => set(all.filter(({ operation }) => operation.id !== id))

function show(shown: Shown, onOver?: NewOperation['onOver']): void {
  set([...all, shown])
  void follow(shown, onOver)
}

/** Looks at an operation until it is over. */
async function follow({ context, operation: { id } }: Shown, onOver: NewOperation['onOver']): Promise<void> {
  for (let pause = FIRST_LOOK; ; pause = Math.min(pause * 1.5, LAST_LOOK)) {
    await new Promise(resolve => setTimeout(resolve, pause))
    const operation = await look(context, id)
    if (operation === 'gone') return closeOperation(id)
    if (operation === undefined) continue
    set(all.map(shown => (shown.operation.id === id ? { ...shown, operation } : shown)))
    if (operation.state === 'running') continue
    if (operation.failed === 0 && operation.state !== 'ended') closeOperation(id)
    onOver?.(operation)
    changed.dispatchEvent(new Event(OVER))
    return
  }
}

/** `undefined` while there is no response. */
async function look(context: string, id: string): Promise<Operation | 'gone' | undefined> {
  try {
    return await ask<Operation>(pathOf(context, id))
  } catch (error) {
    return error instanceof Problem && error.status >= 400 && error.status < 500 ? 'gone' : undefined
  }
}

/** The items of each context. */
export function byContext<T extends Pick<Item, 'context'>>(items: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>()
  for (const item of items) found.set(item.context, [...(found.get(item.context) ?? []), item])
  return found
}
