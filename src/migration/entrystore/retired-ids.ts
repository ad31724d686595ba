import { CONTEXTS, isId, PRINCIPALS } from '../../model/addresses.ts'

/** Ids of users, groups and contexts are never assigned again. */
export const retiresIds = (context: string): boolean => context === CONTEXTS || context === PRINCIPALS

/** Collects the ids of deleted entries that must stay taken. */
export class RetiredIds {
  readonly #ids = new Map<string, { readonly context: string; readonly id: string }>()

  add(context: string, id: string): void {
    if (isId(id)) this.#ids.set(`${context}/${id}`, { context, id })
  }

  /** @param isPresent an id in use is not retired */
  list(isPresent: (context: string, id: string) => boolean): Array<{ readonly context: string; readonly id: string }> {
    return [...this.#ids.values()].filter(({ context, id }) => !isPresent(context, id))
  }
}
