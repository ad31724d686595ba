import { Readable } from 'node:stream'
import { Overloaded } from '../../base/errors.ts'
import { TakenOver } from './resumable-upload.ts'
import { abortable } from '../../stores/blob-store.ts'

/** The requests with bytes that this process is receiving: at most one for each upload. */
export class ReceivingUploads {
  /** By the id of the upload. */
  readonly #requests = new Map<string, { readonly stop: (reason: Error) => void; readonly ended: Promise<unknown> }>()
  #closed: Error | undefined

  has(id: string): boolean {
    return this.#requests.has(id)
  }

  /**
   * Ends the request of an upload, if there is one, and waits for its end. Received bytes are kept, unless the reason is {@link TakenOver}.
   */
  async stop(id: string, reason: Error): Promise<void> {
    const request = this.#requests.get(id)
    request?.stop(reason)
    await request?.ended
  }

  /**
   * Receives bytes of an upload. An earlier request that still waits for bytes is ended first: its connection is dead, and the client has
   * come back. An earlier request whose bytes have all arrived is completed.
   * @param receive called with the bytes, which fail when the request is ended
   */
  async run<T>(
    id: string,
    bytes: AsyncIterable<Uint8Array>,
    receive: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    return await this.#run(id, bytes, receive, () => this.stop(id, new TakenOver()))
  }

  /** The same without bytes, after the earlier request. */
  async runAfter<T>(id: string, receive: (bytes: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
    return await this.#run(id, Readable.from([]), receive, async () => void (await this.#requests.get(id)?.ended))
  }

  async #run<T>(
    id: string,
    bytes: AsyncIterable<Uint8Array>,
    receive: (bytes: AsyncIterable<Uint8Array>) => Promise<T>,
    endEarlier: () => Promise<void>,
  ): Promise<T> {
    while (this.#requests.has(id)) await endEarlier()
    if (this.#closed) throw this.#closed
    const stopping = new AbortController()
    const receiving = receive(abortable(bytes, stopping.signal))
    const ended = receiving.catch(() => {}).finally(() => this.#requests.delete(id))
    this.#requests.set(id, { stop: reason => stopping.abort(reason), ended })
    return await receiving
  }

  /** Ends all requests with what has come, and refuses further ones. */
  async close(): Promise<void> {
    this.#closed = new Overloaded('The service is stopping. The upload goes on where it stopped.', 5)
    await Promise.all([...this.#requests.keys()].map(id => this.stop(id, this.#closed ?? new TakenOver())))
  }
}
