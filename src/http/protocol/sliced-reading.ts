import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { notePassing } from '../../base/passing-bytes.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { stopBehindHead } from './parser-stop.ts'
import type { SliceTurns } from './slice-turns.ts'

/** So much of a connection is parsed at once, and twice as much after each slice of which a byte took no longer than the time below. */
const MIN_SLICE: Bytes = 512
/** What Node reads at once. */
const MAX_SLICE: Bytes = 65_536
/** Many times what a byte of a large body takes, and much less than one of a small request or chunk. */
const LONG: Milliseconds = 0.00002

type Parse = (slice: Buffer) => void

/** More than browsers and libraries send. */
const USUAL_FIELDS = 100

const NOTHING: Buffer = Buffer.alloc(0)

const byConnection = new WeakMap<Socket, SlicedReading>()

/**
 * Lets no connection take the event loop for long with what it sends. A client that sends one request after the other costs what its
 * requests cost. From the moment on when one sends more than one at once, or a body in chunks, its connection is read in slices, and all
 * such connections share a part of each turn. By itself Node parses all that it has read, and reads up to 2 MiB of a connection in a turn.
 */
export function readInSlices(server: Server, turns: SliceTurns): void {
  server.on('connection', (socket: Socket) => byConnection.set(socket, new SlicedReading(socket, turns)))
}

/** Reads nothing more of a connection while it is held, and reads it in slices from now on. */
export function holdReading(socket: Socket, isHeld: boolean): void {
  byConnection.get(socket)?.hold(isHeld)
}

/** How a connection is read. */
class SlicedReading {
  readonly #socket: Socket
  readonly #turns: SliceTurns
  #isHeld = false
  /** False while Node wants nothing, because a body or responses wait to be taken. */
  #isWanted = true
  /** What Node hands out, less what has been parsed. All that has to wait goes back into the stream, so that its end comes behind. */
  #present = NOTHING
  /** The stream tells its listeners also what is read from it. */
  #isReadingBack = false
  #slice: Bytes = MIN_SLICE
  /** Node's listener, once nothing else parses. */
  #parse: Parse | undefined
  #letFlow: (flows: boolean) => void = () => {}

  constructor(socket: Socket, turns: SliceTurns) {
    this.#socket = socket
    this.#turns = turns
    stopBehindHead(
      socket,
      (request, isFirst) => !isFirst || this.#isHeld || mayHaveChunks(request),
      unparsed => this.#begin(unparsed),
    )
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    this.#plan()
  }

  #begin(unparsed: Buffer): void {
    const socket = this.#socket
    const [parse] = socket.listeners('data') as [Parse]
    const [pause, resume] = [socket.pause.bind(socket), socket.resume.bind(socket)]
    this.#isWanted = !socket.isPaused()
    // Node starts to read again at the event `resume`, also while the connection is held: it has to notice when the client leaves.
    this.#letFlow = flows => {
      if (flows) resume()
      pause()
    }
    const listen = (): void => {
      if (!this.#isWanted) return
      socket.off('resume', listen)
      // With this listener Node hands out what it reads, and parses nothing itself.
      socket.on('data', piece => this.#take(piece))
      this.#parse = parse
      this.#letFlow = flows => {
        if (flows === socket.readableFlowing) return
        if (flows) resume()
        else pause()
      }
      this.#plan()
    }
    socket.on('resume', listen)
    socket.off('data', parse)
    this.#letFlow(false)
    socket.unshift(unparsed)
    this.#letFlow(this.#isWanted)
    socket.pause = () => this.#want(false)
    socket.resume = () => this.#want(true)
  }

  #want(isWanted: boolean): Socket {
    this.#isWanted = isWanted
    if (this.#parse) this.#plan()
    else this.#letFlow(isWanted)
    return this.#socket
  }

  #take(piece: Buffer): void {
    if (this.#isReadingBack) return
    notePassing(piece.length)
    this.#present = piece
    this.#plan()
    const rest = this.#present
    this.#present = NOTHING
    if (rest.length === 0) return
    this.#letFlow(false)
    this.#socket.unshift(rest)
  }

  #plan(): void {
    if (!this.#parse) return
    if (this.#isReady()) this.#turns.add(this.#parseNext)
    this.#letFlow(this.#isOpen() && this.#waiting() === 0)
  }

  readonly #parseNext = (): void => {
    if (!this.#isReady()) return
    const slice = this.#next()
    const took = this.#turns.measure(() => this.#parse?.(slice))
    this.#slice = took <= LONG * slice.length ? Math.min(2 * this.#slice, MAX_SLICE) : MIN_SLICE
    this.#plan()
  }

  #isReady(): boolean {
    return this.#isOpen() && this.#waiting() > 0
  }

  /** The parser of a connection that has ended belongs to another one. */
  #isOpen(): boolean {
    return this.#isWanted && !this.#isHeld && !this.#socket.destroyed
  }

  #waiting(): Bytes {
    return this.#present.length + this.#socket.readableLength
  }

  #next(): Buffer {
    if (this.#present.length === 0) return this.#readBack()
    const slice = this.#present.subarray(0, this.#slice)
    this.#present = this.#present.subarray(slice.length)
    return slice
  }

  /** Takes a slice out of the stream. */
  #readBack(): Buffer {
    this.#isReadingBack = true
    const slice = this.#socket.read(Math.min(this.#slice, this.#socket.readableLength)) as Buffer
    this.#isReadingBack = false
    return slice
  }
}

/** Node drops the fields beyond its limit, and a `Transfer-Encoding` may be among them. */
const mayHaveChunks = ({ headers, rawHeaders }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || rawHeaders.length > 2 * USUAL_FIELDS
