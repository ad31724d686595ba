import type { Content } from './inputs.ts'
import { type Schema, text } from './schema.ts'

/**
 * Useful requests after a response (OpenAPI links): the id of an operation, and the sources of its parameters
 * as runtime expressions such as `$response.body#/entryId`.
 */
export type Links = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The response of an operation with one status. */
export interface Answer {
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, string>>
  readonly links?: Links
}

interface Extras {
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly links?: Links
}

export const json = (description: string, schema: Schema, { example, ...extras }: Extras = {}): Answer => ({
  description,
  content: { types: ['application/json'], schema, ...(example === undefined ? {} : { example }) },
  ...extras,
})

export const content = (
  description: string,
  types: readonly string[],
  schema: Schema,
  extras: Extras = {},
): Answer => ({
  description,
  content: { types, schema },
  ...extras,
})

/** A response without a body. */
export const empty = (description: string, extras: Omit<Extras, 'example'> = {}): Answer => ({ description, ...extras })

export const done = empty('Done.')
export const unchanged = empty('Not changed since the state that the request names.')
export const redirect = (description: string): Answer =>
  empty(description, { headers: { Location: 'Where to go on.' } })

/** A page for people. */
export const page = (description: string): Answer => content(description, ['text/html'], text())
