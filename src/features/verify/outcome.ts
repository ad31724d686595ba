/** What a check has found. A promise that could not be checked is never counted as kept. */
export type Outcome =
  | { readonly state: 'kept'; readonly seen: string }
  | { readonly state: 'broken'; readonly seen: string; readonly advice: string }
  | { readonly state: 'unchecked'; readonly why: string }

/** Something that a check needs is missing: a right, a user, an answer. */
export class CannotCheck extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CannotCheck'
  }
}

export const kept = (seen: string): Outcome => ({ state: 'kept', seen })
export const broken = (seen: string, advice: string): Outcome => ({ state: 'broken', seen, advice })
export const unchecked = (why: string): Outcome => ({ state: 'unchecked', why })

/** Kept if the condition holds. */
export const holds = (condition: boolean, seen: string, advice: string): Outcome =>
  condition ? kept(seen) : broken(seen, advice)
