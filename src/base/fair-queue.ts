/** Whose share of a queue an item takes. */
export interface QueueShare {
  /** The caller that it counts for: a user, or a network address. */
  readonly of: string
  /** Goes before others. */
  readonly isPreferred?: boolean
}

/** Maximum number of preferred items in a row, so that the others are served, too. */
const MAX_PREFERRED_IN_A_ROW = 4

type Lane<T> = Map<string, T[]>

/**
 * A bounded queue whose callers take turns, so that one with many items delays another with one item by at most one item. In a full
 * queue a caller with few items displaces the last item of the one with the most; a preferred one displaces any other.
 */
export class FairQueue<T> {
  readonly #capacity: () => number
  readonly #preferred: Lane<T> = new Map()
  readonly #others: Lane<T> = new Map()
  #size = 0
  #inARow = 0

  /** @param capacity a function where it changes */
  constructor(capacity: number | (() => number)) {
    this.#capacity = typeof capacity === 'number' ? () => capacity : capacity
  }

  get size(): number {
    return this.#size
  }

  countOf(share: QueueShare): number {
    return this.#laneOf(share).get(share.of)?.length ?? 0
  }

  /** Adds the item. Returns the one that has no place: `undefined`, an item that was displaced, or this item itself. */
  add(item: T, share: QueueShare): T | undefined {
    const capacity = this.#capacity()
    // Less than there was: one that left would make no room.
    if (this.#size > capacity) return item
    const dropped = this.#size < capacity ? undefined : this.#displace(this.countOf(share), share)
    if (this.#size >= capacity) return item
    const lane = this.#laneOf(share)
    const items = lane.get(share.of)
    if (items) items.push(item)
    else lane.set(share.of, [item])
    this.#size++
    return dropped
  }

  /** Removes the item. False when it is not here any more. */
  remove(item: T, share: QueueShare): boolean {
    const lane = this.#laneOf(share)
    const items = lane.get(share.of) ?? []
    const at = items.indexOf(item)
    if (at >= 0) this.#take(lane, share.of, items, at)
    return at >= 0
  }

  /** Removes and returns the item that is next. @param mayTake whether an item of this caller may be next */
  next(mayTake: (caller: string) => boolean = () => true): T | undefined {
    const isOthersTurn = this.#inARow >= MAX_PREFERRED_IN_A_ROW
    const lanes = isOthersTurn ? [this.#others, this.#preferred] : [this.#preferred, this.#others]
    for (const lane of lanes) {
      for (const [caller, items] of lane) {
        if (!mayTake(caller)) continue
        this.#inARow = lane === this.#preferred ? this.#inARow + 1 : 0
        const item = this.#take(lane, caller, items, 0)
        // At the end of the line: the next caller comes first.
        if (lane.delete(caller) && items.length > 0) lane.set(caller, items)
        return item
      }
    }
    return undefined
  }

  #laneOf({ isPreferred }: QueueShare): Lane<T> {
    return isPreferred ? this.#preferred : this.#others
  }

  #take(lane: Lane<T>, caller: string, items: T[], at: number): T | undefined {
    const [item] = items.splice(at, 1)
    if (items.length === 0) lane.delete(caller)
    this.#size--
    return item
  }

  /** Removes and returns the last item of the caller with the most, if that is more than fair to the newcomer. */
  #displace(own: number, { isPreferred }: QueueShare): T | undefined {
    const inOthers = longest(this.#others)
    const inPreferred = longest(this.#preferred)
    const isOther = inOthers.items.length > 0 && (isPreferred || inOthers.items.length >= inPreferred.items.length)
    const { caller, items } = isOther ? inOthers : inPreferred
    if (!(isOther && isPreferred) && items.length <= own + 1) return undefined
    return this.#take(isOther ? this.#others : this.#preferred, caller, items, items.length - 1)
  }
}

function longest<T>(lane: Lane<T>): { readonly caller: string; readonly items: T[] } {
  let found: { caller: string; items: T[] } = { caller: '', items: [] }
  for (const [caller, items] of lane) if (items.length > found.items.length) found = { caller, items }
  return found
}
