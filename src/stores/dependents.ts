/** Maximum number of keys in an array. Most subjects have a key or two, for which a set would take several times the memory. */
const MAX_ARRAY = 8

/** The keys of cached values by the subjects that they depend on. A key is in the list of a subject at most once. */
export class Dependents {
  readonly #keys = new Map<string, string[] | Set<string>>()

  /** A list of its own, because the keys in it are removed one by one. */
  of(subject: string): string[] {
    return [...(this.#keys.get(subject) ?? [])]
  }

  add(subject: string, key: string): void {
    const keys = this.#keys.get(subject)
    if (keys === undefined) this.#keys.set(subject, [key])
    else if (keys instanceof Set) keys.add(key)
    else if (keys.length < MAX_ARRAY) keys.push(key)
    else this.#keys.set(subject, new Set([...keys, key]))
  }

  remove(subject: string, key: string): void {
    const keys = this.#keys.get(subject)
    if (keys === undefined) return
    if (keys instanceof Set) keys.delete(key)
    else if (keys.includes(key)) keys.splice(keys.indexOf(key), 1)
    if ((keys instanceof Set ? keys.size : keys.length) === 0) this.#keys.delete(subject)
  }
}
