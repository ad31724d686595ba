import { normaliseName } from '../../accounts/users.ts'
import type { AttributeRules } from './attributes.ts'

/** The settings of one provider that decide what its attributes mean (D27): the same for each protocol. */
export interface Mapping {
  /** The attribute with the groups of a user. */
  readonly groups: string | undefined
  readonly prefix: string | undefined
  readonly adminGroup: string | undefined
  readonly provisions: boolean
  readonly map: ReadonlyMap<string, string>
  readonly required: ReadonlyMap<string, string>
}

/** Of a provider without these settings. */
export const noMapping: Mapping = {
  groups: undefined,
  prefix: undefined,
  adminGroup: undefined,
  provisions: false,
  map: new Map(),
  required: new Map(),
}

/** `undefined` where nothing is set: such a provider states only the name of the user. @param issuers of a federation */
export function rulesFrom(mapping: Mapping, issuers?: readonly string[]): AttributeRules | undefined {
  const { groups: attribute, prefix, adminGroup: adminValue, provisions, map, required } = mapping
  if (attribute === undefined && map.size === 0 && required.size === 0) return undefined
  const groups = attribute !== undefined && {
    attribute,
    prefix: prefix === undefined ? undefined : normaliseName(prefix),
    adminValue,
    provisions,
    issuers: issuers && new Set(issuers),
  }
  return { required, map, groups: groups || undefined }
}
