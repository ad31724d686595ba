/** A JSON Schema 2020-12. */
export type Schema = Readonly<Record<string, unknown>>

/** The form of a body; a name stands for one of the schemas in `schemas.ts`. */
export interface Body {
  readonly types: readonly string[]
  readonly schema: Schema
}

export interface AnswerDescription {
  readonly description: string
  readonly body?: Body
}

/** What a method does at an address, in the words of the interface. */
export interface Operation {
  readonly summary: string
  /** Query parameters and what they mean. */
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Body
  /** By status; refusals are problems, and the same everywhere. */
  readonly answers: Readonly<Record<number, AnswerDescription>>
}

/** By method and address, as the routes spell them: `GET /:context/entry/:entry`. */
export type Operations = Readonly<Record<string, Operation>>

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

export const json = (schema: Schema): Body => ({ types: ['application/json'], schema })

export const form = (fields: readonly string[]): Body => ({
  types: ['application/x-www-form-urlencoded'],
  schema: { type: 'object', properties: Object.fromEntries(fields.map(field => [field, { type: 'string' }])) },
})

export const answer = (description: string, body?: Body): AnswerDescription => ({
  description,
  ...(body ? { body } : {}),
})

export const page = answer('A page.', { types: ['text/html'], schema: { type: 'string' } })
export const done = answer('Done.')
export const unchanged = answer('Nothing has changed since.')
export const elsewhere = answer('It is at `Location`.')

/** A graph: RDF/JSON as a schema can tell it, the other syntaxes as text. */
export const graph: Body = {
  types: ['application/json', 'application/rdf+json', 'application/ld+json'],
  schema: ref('Json'),
}
