import type { Attributes } from '../attributes.ts'

/** A user as a CAS server names and describes them. */
export interface CasUser {
  readonly name: string
  readonly attributes: Attributes
}
