import { closeSync, openSync } from 'node:fs'

/**
 * SIGHUP has two meanings: an operator wants the settings to be read again, or the terminal from which the service was started has gone.
 * Without a handler the signal would end the process, so this handler is there from the start.
 */
export class SighupHandler {
  /** Resolves when the terminal has gone. */
  readonly ofTerminal: Promise<NodeJS.Signals>
  #reload: (() => void) | undefined
  #isRequested = false

  constructor() {
    const hadTerminal = hasTerminal()
    this.ofTerminal = new Promise(resolve => {
      process.on('SIGHUP', signal => {
        if (hadTerminal && !hasTerminal()) resolve(signal)
        else if (this.#reload) this.#reload()
        else this.#isRequested = true
      })
    })
  }

  /** From now on, and at once if the signal came before. */
  onReload(reload: () => void): void {
    this.#reload = reload
    if (this.#isRequested) reload()
  }
}

/** Whether the process belongs to a terminal. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
