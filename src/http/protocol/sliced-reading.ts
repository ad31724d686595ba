import type { Socket } from 'node:net'
import type { Bytes } from '../../base/units.ts'

/** So much of one connection is read in one turn of the event loop, and more while the chunks of its bodies are large. */
const MIN_SLICE: Bytes = 4096
/** What Node reads at once. */
const MAX_SLICE: Bytes = 65_536
/** Chunks are large from this average size on. */
const LARGE: Bytes = 1024

const byConnection = new WeakMap<Socket, SlicedReading>()
/** Connections of which a slice can be read, each in its turn. */
const due = new Set<SlicedReading>()

/**
 * Reads a connection slowly from now on, because its bytes may cost more than those of others: many requests, or a body in chunks.
 * By itself Node reads up to 2 MiB of a connection in one turn of the event loop, and all other connections wait meanwhile.
 */
export function readInSlices(socket: Socket): SlicedReading {
  let reading = byConnection.get(socket)
  if (!reading) byConnection.set(socket, (reading = new SlicedReading(socket)))
  reading.restart()
  return reading
}

/** A connection that is read in slices: one slice of one connection in each turn. */
export class SlicedReading {
  readonly #socket: Socket
  /** False while Node has stopped reading, because a body or responses wait to be taken. */
  #isWanted: boolean
  #isHeld = false
  #slice: Bytes = MIN_SLICE
  /** In the slice that is being read. */
  #chunks = 0

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
      socket.once('resume', () => socket.on('readable', () => this.plan()))
      resume()
    })
  }

  /** Begins with small slices again. */
  restart(): void {
    this.#slice = MIN_SLICE
  }

  /** Counts a chunk of a body. */
  countChunk(): void {
    this.#chunks++
  }

  /** While it is held, nothing more is read. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.plan()
  }

  plan(): void {
    if (!this.#isWanted || this.#isHeld) return
    if (due.size === 0) setImmediate(readNext)
    due.add(this)
  }

  /** Hands the next slice to Node's HTTP server, which listens for `data`, or the end of the connection. */
  readSlice(): void {
    if (!this.#isWanted || this.#isHeld) return
    const length = Math.min(this.#slice, this.#socket.readableLength)
    this.#chunks = 0
    if (this.#socket.read(length === 0 ? undefined : length) === null) return
    // Requests without such a body are no reason for larger slices.
    const areLarge = this.#chunks > 0 && length / this.#chunks >= LARGE
    this.#slice = areLarge ? Math.min(2 * this.#slice, MAX_SLICE) : MIN_SLICE
    this.plan()
  }
}

function readNext(): void {
  for (const reading of due) {
    due.delete(reading)
    // Before the slice is read: it may plan the next one.
    if (due.size > 0) setImmediate(readNext)
    return reading.readSlice()
  }
}
