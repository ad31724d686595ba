import type { Socket } from 'node:net'
import type { Bytes } from '../../base/units.ts'

/** So much of a connection is read at once, and more while its bytes cost no more than those of others. */
const MIN_SLICE: Bytes = 4096
/** What Node reads at once. */
const MAX_SLICE: Bytes = 65_536
/** Bytes cost no more than those of others where a request or a chunk has so many on average. */
const LARGE: Bytes = 1024
/** When slices of all connections have come to so much, what else there is of the turn of the event loop belongs to others. */
const MAX_AT_ONCE = { bytes: 262_144, items: 1000 }

const byConnection = new WeakMap<Socket, SlicedReading>()
/** Connections of which a slice can be read. */
const due = new Set<SlicedReading>()
/** What has been read since others were last given a turn. */
let [bytesRead, itemsRead] = [0, 0]
let isWaiting = false

/**
 * Reads a connection slowly from now on, because its bytes may cost more than those of others: many requests, or many chunks of a body.
 * By itself Node reads up to 2 MiB of a connection in one turn of the event loop, and all other connections wait meanwhile.
 */
export function readInSlices(socket: Socket): SlicedReading {
  let reading = byConnection.get(socket)
  if (!reading) byConnection.set(socket, (reading = new SlicedReading(socket)))
  return reading
}

/** Counts a request of a connection, or a chunk of its body. */
export function countItem(socket: Socket): void {
  byConnection.get(socket)?.countItem()
}

/** A connection that is read in slices. */
export class SlicedReading {
  readonly #socket: Socket
  /** False while Node has stopped reading, because a body or responses wait to be taken. */
  #isWanted: boolean
  #isHeld = false
  #slice: Bytes = MIN_SLICE
  /** Requests and chunks in the slice that is being read. */
  #items = 0

  constructor(socket: Socket) {
    this.#socket = socket
    this.#isWanted = !socket.isPaused()
    const resume = socket.resume.bind(socket)
    // Ends the present reading; with many bytes waiting it would go on within this turn.
    socket.pause()
    socket.pause = () => {
      this.#isWanted = false
      return socket
    }
    socket.resume = () => {
      this.#isWanted = true
      this.plan()
      return socket
    }
    // Not now: Node's parser is at work on this connection.
    setImmediate(() => {
      // Node's HTTP server starts to read again when the connection is resumed. With a listener for `readable` it gets only what is read below.
      socket.once('resume', () => socket.on('readable', () => this.#readNow()))
      resume()
    })
  }

  countItem(): void {
    this.#items++
  }

  /** While it is held, nothing more is read. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.plan()
  }

  plan(): void {
    if (!this.#isWanted || this.#isHeld) return
    due.add(this)
    waitForTurn()
  }

  /** Hands the next slice to Node's HTTP server, which listens for `data`, or the end of the connection. */
  readSlice(): void {
    if (!this.#isWanted || this.#isHeld) return
    const bytes = Math.min(this.#slice, this.#socket.readableLength)
    this.#items = 0
    if (this.#socket.read(bytes === 0 ? undefined : bytes) === null) return
    bytesRead += bytes
    itemsRead += this.#items
    // A body of known length has no items.
    this.#slice = bytes >= LARGE * this.#items ? Math.min(2 * this.#slice, MAX_SLICE) : MIN_SLICE
    due.add(this)
  }

  #readNow(): void {
    due.add(this)
    if (!isWaiting) readDue()
  }
}

/** Slices of one connection after the other. */
function readDue(): void {
  for (const reading of due) {
    due.delete(reading)
    reading.readSlice()
    if (bytesRead >= MAX_AT_ONCE.bytes || itemsRead >= MAX_AT_ONCE.items) return waitForTurn()
  }
}

function waitForTurn(): void {
  if (isWaiting) return
  isWaiting = true
  setImmediate(() => {
    isWaiting = false
    bytesRead = itemsRead = 0
    readDue()
  })
}
