import { open } from 'node:fs/promises'

/** The log as a file that can be synchronised. */
export interface LogFile {
  datasync(): Promise<void>
  close(): Promise<void>
}

/**
 * The write-ahead log of a database. The engine writes each commit into it. Synchronising it takes the engine as long as the disk
 * takes, and nothing else happens on its thread; here a thread of Node's pool waits for the disk, and requests are answered meanwhile.
 */
export class WriteAheadLog {
  readonly #file: LogFile

  constructor(file: LogFile) {
    this.#file = file
  }

  /** Opens the log of the database at `path`. A connection to it must have read already: the engine makes the file. */
  static async open(path: string): Promise<WriteAheadLog> {
    return new WriteAheadLog(await open(`${path}-wal`, 'r+'))
  }

  /**
   * Resolves when every commit so far is on the disk. If the disk refuses, the process ends, as in a power failure: the changes can
   * be read already, so they cannot be undone, and a second attempt would report success for bytes that are lost.
   */
  async sync(): Promise<void> {
    try {
      await this.#file.datasync()
    } catch (cause) {
      setImmediate(() => {
        throw new Error('The disk has refused to store a change of the database. The process ends; start it again.', {
          cause,
        })
      })
      await new Promise(() => {})
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
