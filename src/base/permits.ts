/** A limited number of permits. A caller that gets none does not wait: it uses a slower way, or one that takes less memory. */
export class Permits {
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Returns true if a permit was free. The caller then has it until `release`. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  release(): void {
    this.#free++
  }
}
