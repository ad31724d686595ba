import assert from 'node:assert/strict'
import type { Right } from '../../src/model/rights.ts'

/** The rules of access in folders (D11.7 to D11.9), written a second time with plain variables: from folder to folder, without ids of scopes. */

export const slots = ['admin', 'rread', 'rwrite', 'mread', 'mwrite'] as const
type Slot = (typeof slots)[number]
export const modes = ['none', 'closed', 'context', 'folder'] as const
/** What an access list of its own does besides what it names; `none` has no list. */
export type Mode = (typeof modes)[number]
/** Whom each slot names. */
export type Grants = Readonly<Partial<Record<Slot, readonly string[]>>>

interface Named {
  readonly mode: Mode
  readonly grants: Grants
  /** Whether the list is for the content of the list as well. */
  readonly isMarked: boolean
}

interface Thing extends Named {
  readonly id: string
  readonly isList: boolean
  readonly parent: string | undefined
  readonly isTrusted: boolean
  /** Of what is in the trash: the nearest folder that gave access when it was moved there, if any. */
  readonly scope?: string | undefined
  readonly isTrashed?: true
}

interface Trashed {
  readonly things: readonly Thing[]
}

const slotsOf: Readonly<Record<Right, readonly Slot[]>> = {
  administer: [],
  writemetadata: ['mwrite'],
  writeresource: ['rwrite'],
  readmetadata: ['mread', 'mwrite'],
  readresource: ['rread', 'rwrite'],
}

export class AccessModel {
  readonly entries = new Map<string, Thing>()
  /** By the id of what was moved to the trash. */
  readonly trashed = new Map<string, Trashed>()
  context: Grants = {}
  group: ReadonlySet<string> = new Set()

  entry(id: string): Thing {
    const found = this.entries.get(id)
    assert.ok(found, id)
    return found
  }

  /** An entry with what is above it. */
  describe(id: string): string {
    const thing = this.entries.get(id)
    return thing ? `${JSON.stringify(thing)} ${thing.parent === undefined ? '' : this.describe(thing.parent)}` : ''
  }

  #names(grants: Grants, slot: Slot, who: string): boolean {
    const named = grants[slot] ?? []
    return (
      named.includes('_guest') ||
      (who !== '_guest' && named.includes('_users')) ||
      named.includes(who) ||
      (named.includes('g1') && this.group.has(who))
    )
  }

  #gives(grants: Grants, right: Right, who: string): boolean {
    return this.#names(grants, 'admin', who) || slotsOf[right].some(slot => this.#names(grants, slot, who))
  }

  #ofContext(right: Right, who: string): boolean {
    const isRead = right === 'readmetadata' || right === 'readresource'
    return this.#names(this.context, 'rwrite', who) || (isRead && this.#names(this.context, 'rread', who))
  }

  may(who: string, right: Right, id: string): boolean {
    return this.#mayOn(who, right, this.entry(id), one => this.entries.get(one))
  }

  #mayOn(who: string, right: Right, thing: Thing, find: (id: string) => Thing | undefined): boolean {
    if (this.#names(this.context, 'admin', who)) return true
    if (thing.mode !== 'none') {
      if (this.#gives(thing.grants, right, who)) return true
      if (thing.mode === 'closed') return false
      if (thing.mode === 'context') return this.#ofContext(right, who)
    }
    for (const folder of this.#foldersOf(thing, find)) {
      // The list is gone: nobody knows whom it named.
      if (!folder) return false
      if (this.#gives(folder.grants, right, who)) return true
      if (folder.mode === 'closed') return false
      if (folder.mode === 'context') break
    }
    return this.#ofContext(right, who)
  }

  /** The folders that give access, from the nearest one; `undefined` for one that is not there any more. */
  *#foldersOf(thing: Thing, find: (id: string) => Thing | undefined): Generator<Thing | undefined> {
    for (let at = thing; ; ) {
      const next = at.isTrashed ? at.scope : at.isTrusted ? at.parent : undefined
      if (next === undefined) return
      const above = find(next)
      if (!above) return yield undefined
      if (above.isMarked || at.isTrashed) yield above
      at = above
    }
  }

  /** Whether the content of this list is in a folder that gives access, and which. */
  #scopeInside(id: string): string | undefined {
    const list = this.entry(id)
    if (list.isMarked) return id
    return this.#scopeOf(list)
  }

  #scopeOf(thing: Thing): string | undefined {
    for (const folder of this.#foldersOf(thing, id => this.entries.get(id))) return folder?.id
    return undefined
  }

  /** Whether a folder above closes the entry to those who have access to the context. */
  #isClosedAbove(thing: Thing, find = (id: string) => this.entries.get(id)): boolean {
    if (thing.mode === 'closed' || thing.mode === 'context') return false
    for (const folder of this.#foldersOf(thing, find)) {
      if (!folder || folder.mode === 'closed') return true
      if (folder.mode === 'context') return false
    }
    return false
  }

  /** Lists of their own that have come into a folder that gives access give access from then on. */
  #mark(): void {
    for (let goesOn = true; goesOn; ) {
      goesOn = false
      for (const thing of this.entries.values()) {
        if (!thing.isList || thing.isMarked || thing.mode === 'none' || this.#scopeOf(thing) === undefined) continue
        this.entries.set(thing.id, { ...thing, isMarked: true })
        goesOn = true
      }
    }
  }

  membersOf(list: string): string[] {
    return [...this.entries.values()].filter(({ parent }) => parent === list).map(({ id }) => id)
  }

  withContent(id: string): string[] {
    return [id, ...this.membersOf(id).flatMap(one => this.withContent(one))]
  }

  mayCreate(who: string, list: string | undefined): boolean {
    const onContext = this.#names(this.context, 'admin', who) || this.#names(this.context, 'rwrite', who)
    if (list === undefined) return onContext
    return this.may(who, 'writeresource', list)
  }

  create(who: string, { id, isList, list }: { id: string; isList: boolean; list: string | undefined }): void {
    const bare: Thing = { id, isList, parent: list, isTrusted: true, mode: 'none', grants: {}, isMarked: false }
    if (list === undefined) return void this.entries.set(id, bare)
    const owner: Grants = this.may(who, 'administer', list) ? {} : { admin: [who] }
    const above = this.entry(list)
    if (this.#scopeInside(list) !== undefined) {
      const isOwner = owner.admin !== undefined
      this.entries.set(id, { ...bare, grants: owner, mode: isOwner ? 'folder' : 'none', isMarked: isOwner && isList })
    } else {
      // A copy, as in EntryStore.
      const grants = union(above.grants, owner)
      const isOwn = Object.keys(grants).length > 0 || above.mode !== 'none'
      const mode: Mode = !isOwn ? 'none' : above.mode === 'none' ? 'closed' : above.mode
      this.entries.set(id, { ...bare, grants, mode: above.mode === 'none' && isOwn ? 'closed' : mode })
    }
    this.#mark()
  }

  share(id: string, named: Named): void {
    const before = this.entry(id)
    const wasGiving = before.isMarked || this.#scopeOf(before) !== undefined
    const isMarked = before.isList && named.mode !== 'none' && (named.isMarked || wasGiving)
    this.entries.set(id, { ...before, ...named, isMarked })
    this.#mark()
  }

  mayMove(who: string, id: string, list: string): boolean {
    const thing = this.entry(id)
    if (!this.may(who, 'writeresource', list)) return false
    if (thing.parent !== undefined && !this.may(who, 'writeresource', thing.parent)) return false
    if (this.#scopeOf(thing) === this.#scopeInside(list)) return true
    return !this.#isClosedAbove(thing) || this.may(who, 'administer', id)
  }

  move(who: string, id: string, list: string): void {
    const thing = this.entry(id)
    const scope = this.#scopeOf(thing)
    const stays = scope !== undefined && scope === this.#scopeInside(list)
    this.entries.set(id, { ...thing, parent: list, isTrusted: stays || this.may(who, 'administer', id) })
    this.#mark()
  }

  mayPut(who: string, list: string, members: readonly string[]): boolean {
    if (!this.may(who, 'writeresource', list)) return false
    return this.membersOf(list)
      .filter(id => !members.includes(id))
      .every(id => !this.#isClosedAbove(this.entry(id)) || this.may(who, 'administer', id))
  }

  put(who: string, list: string, members: readonly string[]): void {
    const before = new Set(this.membersOf(list))
    const trust = new Map(members.map(id => [id, this.may(who, 'administer', id)]))
    for (const id of before)
      if (!members.includes(id)) this.entries.set(id, { ...this.entry(id), parent: undefined, isTrusted: true })
    for (const id of members)
      if (!before.has(id)) this.entries.set(id, { ...this.entry(id), parent: list, isTrusted: trust.get(id) ?? false })
    this.#mark()
  }

  toTrash(id: string): void {
    const things = this.withContent(id).map((one): Thing => {
      const thing = this.entry(one)
      return { ...thing, isTrashed: true, scope: this.#scopeOf(thing) }
    })
    for (const one of things) this.entries.delete(one.id)
    this.trashed.set(id, { things })
  }

  mayRestore(who: string, id: string): boolean {
    const find = this.#findAnywhere()
    return (this.trashed.get(id)?.things ?? []).every(thing => this.#mayOn(who, 'administer', thing, find))
  }

  #findAnywhere(): (id: string) => Thing | undefined {
    const all = [...this.trashed.values()].flatMap(({ things }) => things)
    return id => this.entries.get(id) ?? all.find(thing => thing.id === id)
  }

  restore(who: string, id: string): void {
    const [root, ...others] = this.trashed.get(id)?.things ?? []
    assert.ok(root)
    const isClosed = this.#isClosedAbove(root, this.#findAnywhere())
    this.trashed.delete(id)
    for (const { isTrashed: _, scope: __, ...thing } of [root, ...others]) this.entries.set(thing.id, thing)
    const list = root.parent === undefined ? undefined : this.entries.get(root.parent)
    const isBack = list !== undefined && this.may(who, 'writeresource', list.id)
    if (!isBack) {
      const alone: Thing = { ...this.entry(id), parent: undefined, isTrusted: true }
      const grants = union(root.grants, { admin: [who] })
      this.entries.set(id, isClosed ? { ...alone, mode: 'closed', grants, isMarked: root.isList } : alone)
    }
    this.#mark()
  }

  delete(id: string): void {
    this.entries.delete(id)
    for (const one of this.entries.values())
      if (one.parent === id) this.entries.set(one.id, { ...one, parent: undefined, isTrusted: true })
  }
}

const union = (one: Grants, other: Grants): Grants =>
  Object.fromEntries(
    slots.flatMap(slot => {
      const named = [...new Set([...(one[slot] ?? []), ...(other[slot] ?? [])])]
      return named.length > 0 ? [[slot, named]] : []
    }),
  )
