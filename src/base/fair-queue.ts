/** Whose turn it is in a queue. */
export interface Turn {
  /** Those who take turns, for instance by network address. */
  readonly of: string
  /** Goes before others. */
  readonly isPreferred?: boolean
}

/** After so many preferred items in a row another one is served, so that nobody waits for ever. */
const MAX_PREFERRED_IN_A_ROW = 4

const SHARED: Turn = { of: '' }

/**
 * A bounded queue whose callers take turns, so that one with many items delays another with one item by at most one item. In a full
 * queue a caller with few items displaces the last item of the one with the most; a preferred one displaces any other.
 */
export class FairQueue<T> {
  readonly #capacity: number
  readonly #preferred = new Map<string, T[]>()
  readonly #others = new Map<string, T[]>()
  #size = 0
  #inARow = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#size
  }

  /** Adds the item. Returns the one that has no place: `undefined`, an item that was displaced, or this item itself. */
  add(item: T, turn: Turn = SHARED): T | undefined {
    const lane = turn.isPreferred ? this.#preferred : this.#others
    const own = lane.get(turn.of)
    const dropped = this.#size < this.#capacity ? undefined : this.#displace(own?.length ?? 0, turn)
    if (this.#size >= this.#capacity) return item
    const items = lane.get(turn.of)
    if (items) items.push(item)
    else lane.set(turn.of, [item])
    this.#size++
    return dropped
  }

  next(): T | undefined {
    const isOthersTurn = this.#inARow >= MAX_PREFERRED_IN_A_ROW && this.#others.size > 0
    const lane = this.#preferred.size > 0 && !isOthersTurn ? this.#preferred : this.#others
    this.#inARow = lane === this.#preferred ? this.#inARow + 1 : 0
    const [first] = lane
    if (!first) return undefined
    const [key, items] = first
    const item = items.shift()
    // At the end of the line: the next caller comes first.
    lane.delete(key)
    if (items.length > 0) lane.set(key, items)
    this.#size--
    return item
  }

  /** Removes and returns the last item of the caller with the most, if that is more than fair to the newcomer. */
  #displace(own: number, { isPreferred }: Turn): T | undefined {
    const inOthers = longest(this.#others)
    const inPreferred = longest(this.#preferred)
    if (inOthers && isPreferred) return this.#removeLast(this.#others, inOthers)
    const [lane, found] =
      (inPreferred?.[1].length ?? 0) > (inOthers?.[1].length ?? 0)
        ? [this.#preferred, inPreferred]
        : [this.#others, inOthers]
    return found && found[1].length > own + 1 ? this.#removeLast(lane, found) : undefined
  }

  #removeLast(lane: Map<string, T[]>, [key, items]: readonly [string, T[]]): T | undefined {
    const item = items.pop()
    if (items.length === 0) lane.delete(key)
    this.#size--
    return item
  }
}

function longest<T>(lane: ReadonlyMap<string, T[]>): readonly [string, T[]] | undefined {
  let found: readonly [string, T[]] | undefined
  for (const entry of lane) if (entry[1].length > (found?.[1].length ?? 0)) found = entry
  return found
}
