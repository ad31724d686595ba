import type { Caller } from '../../accounts/caller.ts'
import { type EntryInContext, requires } from '../../model/rights.ts'
import type { Changes } from '../changes.ts'
import type { ResourceConditions, Written } from '../resource-kind.ts'
import type { Read } from '../values.ts'

const changing = requires('writeresource', 'change the resource of this entry')

/** Replaces a resource that is stored in the row of its entry. */
export async function writeContent(
  changes: Changes,
  caller: Caller,
  target: EntryInContext,
  { read, conditions }: { readonly read: Read<string>; readonly conditions: ResourceConditions },
): Promise<Written> {
  changing(caller, target)
  const content = await read()
  const checks = { check: changing, precondition: conditions.entry }
  return { entry: await changes.change(caller, target, checks, entry => ({ ...entry, content })) }
}
